/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs: one or two at each switch, one at each task's birth and death, and iterators. User
 * space loads one program of each group that the kernel accepts.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"
#include "maps.bpf.h"
#include "task.bpf.h"
#include "block.bpf.h"
#include "iterate.bpf.h"
#include "on_cpu.bpf.h"
#include "orc_programs.bpf.h"
#include "waker.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Switch-out, where the tracepoint carries the state (5.18 and later). */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_out, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return handle_switch_out(ctx, preempt, prev, next, prev_state);
}

/* Switch-out before that: the state is still in the task. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_out_no_state, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return handle_switch_out(ctx, preempt, prev, next, read_task_state(prev));
}

/* Both in one, on kernels without a hook at switch-in. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switch_park, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return handle_switch(ctx, preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_park_no_state, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return handle_switch(ctx, preempt, prev, next, read_task_state(prev));
}

/* Switch-in, in the context of the task that comes back. */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(switch_in_exit_tp, bool is_switch)
{
	return is_switch ? handle_switch_in(ctx) : 0;
}

SEC("fentry/__perf_event_task_sched_in")
int BPF_PROG(switch_in_fentry)
{
	return handle_switch_in(ctx);
}

/* Runs in the context of the waker, or of an interrupt. */
SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	return handle_waking(ctx, task);
}

SEC("tp_btf/task_newtask")
int BPF_PROG(task_born, struct task_struct *task, unsigned long clone_flags)
{
	struct task_state *ts;
	int match;

	if (phase != WIRE_PHASE_ENLISTING && phase != WIRE_PHASE_RUNNING)
		return 0;
	if (is_over(task->start_time))
		return 0;
	match = inherit_target(task, clone_flags);
	ts = match >= 0 ? make_task_state(task, match) : NULL;
	if (ts && settings.on_cpu)
		begin_life(task, ts);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_gone, struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	__u32 one = 1;

	if (!ts)
		return 0;
	keep_numbers(task, ts);
	if (__sync_fetch_and_add(&targets_alive, -1) == 1 && !settings.all)
		bpf_ringbuf_output(&bell, &one, sizeof(one), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Raw, since older kernels keep a string's address from programs that know its type. */
SEC("raw_tp/cgroup_mkdir")
int BPF_PROG(cgroup_born, struct cgroup *cgroup, const char *path)
{
	if (phase == WIRE_PHASE_ENLISTING || phase == WIRE_PHASE_RUNNING)
		tell_cgroup(ctx, cgroup, path);
	return 0;
}

SEC("iter/task")
int list_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (phase == WIRE_PHASE_ENLISTING)
		enlist(ctx->meta->seq, task);
	else
		stamp_sleeper(task);
	return 0;
}

/* A target runs another program from now on. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_came, struct task_struct *task)
{
	if (has_user_walk && bpf_task_storage_get(&task_states, task, NULL, 0))
		expect_program(task);
	return 0;
}

/* A process looks for room for a mapping, which may be that of code that it has unmapped. */
SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(room_found)
{
	if (has_user_walk)
		note_unmapped_code();
	return 0;
}

/*
 * Until its exec, which counts self_exec_id, COMMAND is a child of ours with our mappings, which it
 * does not use again, and one page of each file that it starts with (session/command_code.h).
 */
static __always_inline bool is_ours(struct task_struct *task, const struct vm_area_struct *vma)
{
	return pid_of(task->real_parent) == settings.own_pid &&
	       task->self_exec_id == task->real_parent->self_exec_id &&
	       (vma->vm_pgoff || vma->vm_end - vma->vm_start != 1 << 12);
}

/*
 * Lists code that targets have mapped. Waits for their mmap_lock: read in a child only. task is the
 * first thread of its process, which has no state if only others are targets.
 */
SEC("iter/task_vma")
int list_code(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;

	if (!has_user_walk || !task || !vma)
		return 0;
	if ((lists_named || bpf_task_storage_get(&task_states, task, NULL, 0)) &&
	    !is_ours(task, vma))
		expect_mapping(task, vma);
	return 0;
}

SEC("iter/task")
int count_targets(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		count_target(task);
	return 0;
}

SEC("iter/task")
int report_blocked(struct bpf_iter__task *ctx)
{
	return report_blocked_task(ctx);
}

SEC("iter/task")
int report_threads(struct bpf_iter__task *ctx)
{
	return report_thread(ctx);
}

/* Run by util/bpf/end_time.c. */
SEC("raw_tp")
int set_end(void *ctx)
{
	return set_end_ahead();
}

SEC("perf_event")
int look(struct bpf_perf_event_data *ctx)
{
	return look_at_cpu(ctx);
}

SEC("iter/task")
int report_runs(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		report_run(ctx->meta->seq, task);
	return 0;
}

SEC("iter/task")
int report_last_runs(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		report_last_run(ctx->meta->seq, task);
	return 0;
}

/* Sleeps while a task holds its mmap_lock: read only in a child that can be killed. */
SEC("iter.s/task")
int read_user(struct bpf_iter__task *ctx)
{
	return read_blocked_user(ctx);
}
