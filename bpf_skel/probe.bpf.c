/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One small program for each feature that a recording needs of the kernel: denet-check loads them
 * one by one and shows which are refused. The hooks of a switch are attached as well. None of the
 * programs does anything.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} output SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[16]);
} room SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(hook_switch_out, bool preempt, struct task_struct *prev)
{
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(hook_exit_tp)
{
	return 0;
}

SEC("fentry/__perf_event_task_sched_in")
int BPF_PROG(hook_fentry)
{
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(hook_birth, struct task_struct *task)
{
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(hook_exit, struct task_struct *task)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(help_task_storage, bool preempt, struct task_struct *prev)
{
	__u64 *value = bpf_task_storage_get(&storage, prev, NULL, 0);

	return value && *value == 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(help_read_kernel, bool preempt, struct task_struct *prev)
{
	return BPF_CORE_READ(prev, real_parent, pid) == -1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(help_get_stack, bool preempt, struct task_struct *prev)
{
	__u32 zero = 0;
	__u64 *ips = bpf_map_lookup_elem(&room, &zero);

	if (!ips)
		return 0;
	bpf_get_stack(ctx, ips, 16 * sizeof(*ips), BPF_F_USER_STACK);
	bpf_get_stack(ctx, ips, 16 * sizeof(*ips), 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(help_output, bool preempt, struct task_struct *prev)
{
	__u64 value = 0;

	bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &value, sizeof(value));
	return 0;
}

SEC("iter/task")
int iterate_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0;
	__u64 *ips = bpf_map_lookup_elem(&room, &zero);

	if (task && ips)
		bpf_get_task_stack(task, ips, 16 * sizeof(*ips), 0);
	return 0;
}

SEC("iter.s/task")
int iterate_memory(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 value;

	if (task)
		bpf_copy_from_user_task(&value, sizeof(value), NULL, task, 0);
	return 0;
}
