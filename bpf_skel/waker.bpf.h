/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wake-ups: the stamp at which a block is split, and the waker. */
#ifndef DENET_WAKER_BPF_H
#define DENET_WAKER_BPF_H

#include "block.bpf.h"
#include "interrupt.bpf.h"
#include "regs.bpf.h"

/*
 * A CPU's room for its wakers, with counters of wake-ups instead of blocks. An interrupt may wake a
 * thread in the midst of a switch hook, which uses its own room; but interrupts are off during a
 * wake-up, so two of them never share this one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} waker_cpus SEC(".maps");

/* The interrupted thread is not the waker. */
static __always_inline void blame_interrupt(struct wire_block *block)
{
	block->pid = block->tid = WIRE_PID_INTERRUPT;
	block->incarnation = 0;
	block->cgroup = 0;
	block->flags &= ~WIRE_BLOCK_KTHREAD;
}

/*
 * Kernel frames, cut at the entry of an interrupt; then user frames, unless it is one. The kernel
 * side is always walked, since it shows which of the two it is.
 */
static __always_inline void walk_waker(void *ctx, struct cpu *room, struct full_block *full)
{
	struct wire_block *block = &full->block;
	long bytes = bpf_get_stack(ctx, full->ips, WIRE_MAX_FRAMES * sizeof(__u64), 0);
	__u32 nr = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0, own;

	own = frames_of_interrupt((const struct frame_room *)full->ips, nr);
	if (own) {
		blame_interrupt(block);
		nr = own;
	}
	if (nr >= settings.max_frames) {
		nr = settings.max_frames;
		block->flags |= WIRE_BLOCK_TRUNC_KERNEL;
	}
	if (!settings.kernel_stacks)
		nr = 0;
	block->nr_kernel = (__u16)nr;
	block->nr_user = 0;
	if (own || !settings.user_stacks || block->flags & WIRE_BLOCK_KTHREAD)
		return;
	nr = walk_user_of(ctx, room, bpf_get_current_task_btf(),
			  &full->ips[bounded_frames(nr)], block, false);
	block->nr_user = (__u16)nr;
	if (nr >= settings.max_frames)
		block->flags |= WIRE_BLOCK_TRUNC_USER;
}

/* The waker is current, which may be no target. */
static __always_inline void describe_waker(struct wire_block *block, __u8 state, __u64 now,
					   __u64 ns)
{
	struct task_struct *waker = bpf_get_current_task_btf();

	block->time = now;
	block->ns = ns;
	block->runqueue_ns = 0;
	block->cgroup = sample_cgroup(waker);
	block->pid = pid_of(waker);
	block->tid = tid_of(waker);
	if (waker->pid && !block->tid)
		block->pid = block->tid = WIRE_PID_OUTSIDE;
	block->cpu = bpf_get_smp_processor_id();
	block->state = state;
	block->flags = WIRE_BLOCK_WAKEUP;
	if (waker->flags & PF_KTHREAD)
		block->flags |= WIRE_BLOCK_KTHREAD;
	block->stack_bytes = 0;
	block->reserved = 0;
	/* Only to tell wakers apart: tasks that are no targets have no incarnation. */
	block->incarnation = waker->start_boottime;
	block->since = now - ns;
}

/*
 * True if the task sleeps in a call that is a wait for work in whichever function it sleeps. Calls
 * for which that depends on the function are not recognized here: the stack is not walked. A wait
 * that another thread of its process ends is not idle, unless the user's table has the call.
 */
static __always_inline bool waits_for_work(struct task_struct *task, const struct task_state *ts)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u8 wanted = ts->handed_over ? WIRE_CALL_IDLE_GIVEN : WIRE_CALL_IDLE;
	__s32 nr;

	if (!settings.skip_idle || ts->state != WIRE_STATE_S || ts->flags & TASK_STATE_KTHREAD)
		return false;
	nr = user_call_nr(regs);
	/* A comparison with the bound makes clang leave out the mask, which the verifier needs. */
	return nr >= 0 && calls[nr & (WIRE_MAX_CALLS - 1)] & wanted;
}

/*
 * The length of the wait and the waker are known now, so the sample is sent at once: the woken
 * thread's wait for a CPU is not the waker's doing.
 */
static __always_inline void report_waker(void *ctx, struct task_struct *task,
					 struct task_state *ts, __u64 now)
{
	__u64 since = ts->since, ns, weight;
	struct cpu *room;
	__u32 zero = 0;

	/* A task that has not left its CPU, or was preempted, has no block for a waker to end. */
	if (!since || ts->state == WIRE_STATE_R || !is_wanted(task, ts, last_cpu(task)))
		return;
	room = bpf_map_lookup_elem(&waker_cpus, &zero);
	if (!room)
		return;
	ns = now > since ? now - since : 0;
	tally(&room->own.accounts.seen, ns);
	if (is_filtered(room, ts->state, ns))
		return;
	if (waits_for_work(task, ts)) {
		tally_outcome(room, WIRE_OUTCOME_FILTERED_IDLE, ns);
		return;
	}
	if (!is_drawn(room, now, ns, &weight))
		return;
	describe_waker(&room->full.block, ts->state, now, ns);
	room->full.block.weight = weight;
	walk_waker(ctx, room, &room->full);
	/* An interrupt that came in while such a thread ran: the thread is not the waker. */
	if (ts->handed_over && room->full.block.pid == WIRE_PID_INTERRUPT) {
		ts->handed_over = 0;
		if (waits_for_work(task, ts)) {
			tally_outcome(room, WIRE_OUTCOME_FILTERED_IDLE, ns);
			return;
		}
	}
	if (is_for_sum(&room->full.block) && accumulate(ctx, room, &room->full, NULL))
		return;
	/* The user registers belong to the interrupted thread. */
	if (room->full.block.pid != WIRE_PID_INTERRUPT && is_copied(&room->full.block)) {
		__u32 index = bpf_get_smp_processor_id();

		send_copy(ctx, room, &room->full.block,
			  bpf_map_lookup_elem(&waker_copies, &index));
	}
	send_block(ctx, room, &room->full);
}

/* True if the waker is another thread of the task's process, and not an interrupt. */
static __always_inline bool is_handed_over(struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();

	return waker->tgid == task->tgid && !(waker->flags & PF_KTHREAD);
}

/* A wake-up of a task, which may not have left its CPU yet. */
static __always_inline int handle_waking(void *ctx, struct task_struct *task)
{
	struct task_state *ts;
	__u64 now;

	if (phase < WIRE_PHASE_RUNNING)
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	if (!ts)
		return 0;
	now = bpf_ktime_get_ns();
	ts->woken = now;
	if (settings.wakers)
		ts->handed_over = is_handed_over(task);
	if (settings.wakers && !is_over(now))
		report_waker(ctx, task, ts, now);
	return 0;
}

#endif /* DENET_WAKER_BPF_H */
