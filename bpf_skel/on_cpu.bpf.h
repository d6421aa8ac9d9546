/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On-CPU samples: the stack of the thread that a clock has interrupted. */
#ifndef DENET_ON_CPU_BPF_H
#define DENET_ON_CPU_BPF_H

#include "block.bpf.h"
#include "running.bpf.h"

/* A CPU's room for its clock, which may interrupt a switch hook. Exists only with a clock. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} clock_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy_room);
} clock_copies SEC(".maps");

/* ns is the thread's running time in the recording so far: user space makes periods of it. */
static __always_inline void describe_look(struct wire_block *block, struct task_struct *task,
					  struct task_state *ts, __u64 now)
{
	block->time = now;
	block->ns = run_until(ts, now);
	block->weight = block->ns;
	block->cgroup = sample_cgroup(task);
	block->pid = target_pid(task, ts);
	block->tid = target_tid(task, ts);
	block->cpu = bpf_get_smp_processor_id();
	block->state = WIRE_STATE_R;
	block->flags = WIRE_BLOCK_ON_CPU;
	if (ts->flags & TASK_STATE_KTHREAD)
		block->flags |= WIRE_BLOCK_KTHREAD;
	block->stack_bytes = 0;
	block->reserved = 0;
	block->incarnation = ts->incarnation;
	block->since = 0;
	block->runqueue_ns = 0;
}

static __always_inline void walk_running(void *ctx, struct cpu *room, struct full_block *full)
{
	struct wire_block *block = &full->block;
	__u32 nr = settings.kernel_stacks ? walk(ctx, full->ips, 0) : 0;

	block->nr_kernel = (__u16)nr;
	block->nr_user = 0;
	if (nr >= settings.max_frames)
		block->flags |= WIRE_BLOCK_TRUNC_KERNEL;
	if (!settings.user_stacks || block->flags & WIRE_BLOCK_KTHREAD)
		return;
	nr = walk_user_of(ctx, room, bpf_get_current_task_btf(), &full->ips[bounded_frames(nr)],
			  block, false);
	block->nr_user = (__u16)nr;
	if (nr >= settings.max_frames)
		block->flags |= WIRE_BLOCK_TRUNC_USER;
}

/* A tick of this CPU's clock. */
static __always_inline int look_at_cpu(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *ts;
	struct cpu *room;
	__u32 index = bpf_get_smp_processor_id(), zero = 0;
	__u64 now = bpf_ktime_get_ns();

	if (!task->pid || phase != WIRE_PHASE_RUNNING || is_over(now))
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	room = bpf_map_lookup_elem(&clock_cpus, &zero);
	if (!ts || !room || !is_wanted(task, ts, index))
		return 0;
	describe_look(&room->full.block, task, ts, now);
	tally(&room->own.accounts.seen, 0);
	walk_running(ctx, room, &room->full);
	room->full.reason.id = 0;
	if (is_copied(&room->full.block))
		send_copy(ctx, room, &room->full.block,
			  bpf_map_lookup_elem(&clock_copies, &index));
	else if (accumulate(ctx, room, &room->full, NULL))
		return 0;
	send_block(ctx, room, &room->full);
	return 0;
}

#endif /* DENET_ON_CPU_BPF_H */
