/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runnable time: how long a thread waited for a CPU, and whether its cgroup's CPU quota was the
 * cause. The scheduler itself counts it in sched_info.run_delay, from the moment a task is queued
 * to its next moment on a CPU; the difference over a block is the block's runnable part. Wake-up
 * stamps replace it where the kernel has no sched_info, and with --wakers, so that the two parts of
 * a block meet at the recorded wake-up.
 */
#ifndef DENET_RUNQUEUE_BPF_H
#define DENET_RUNQUEUE_BPF_H

#include "task.bpf.h"

/*
 * The wake-up stamp of a thread that is on a CPU again. Switch-out does not clear it: another CPU
 * may wake a thread after it has set its sleeping state and before it has left its CPU, and that
 * wake-up belongs to the next block.
 */
static __always_inline __u64 take_wakeup(struct task_state *ts)
{
	__u64 woken;

	if (!settings.wakeup_stamps)
		return 0;
	woken = ts->woken;
	ts->woken = 0;
	return woken;
}

static __always_inline __u64 run_delay_of(struct task_struct *task)
{
	return bpf_core_field_exists(struct sched_info, run_delay) ? task->sched_info.run_delay : 0;
}

/*
 * How long the task has been queued, by the clock of its run queue. That is exact at a switch,
 * where the scheduler adds the same to run_delay a moment later; elsewhere the clock stands at
 * the latest tick.
 */
static __always_inline __u64 queued_until_now(struct task_struct *task)
{
	__u64 queued, now;

	if (!bpf_core_field_exists(struct sched_info, last_queued) ||
	    !bpf_core_field_exists(struct sched_entity, cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	queued = task->sched_info.last_queued;
	now = task->se.cfs_rq->rq->clock;
	return queued && now > queued ? now - queued : 0;
}

/* The growth of run_delay since the last call for this task, which gets the CPU now. */
static __always_inline __u64 take_run_delay(struct task_struct *task, struct task_state *ts,
					    bool is_parked)
{
	__u64 delay = run_delay_of(task), before = ts->run_delay;

	if (is_parked)
		delay += queued_until_now(task);
	ts->run_delay = delay;
	return delay > before ? delay - before : 0;
}

/* The part of a block after its wake-up. A block whose wake-up was not seen stays whole. */
static __always_inline __u64 part_after(__u64 woken, __u64 since, __u64 end)
{
	if (!woken || woken >= end)
		return 0;
	return end - (woken > since ? woken : since);
}

/* The runnable part of a block that ends; a preempted thread could have run all the time. */
static __always_inline __u64 runnable_part(__u8 state, __u64 since, __u64 end, __u64 woken,
					   __u64 delay)
{
	if (end <= since)
		return 0;
	if (state == WIRE_STATE_R)
		return end - since;
	if (settings.wakeup_stamps)
		return part_after(woken, since, end);
	return delay < end - since ? delay : end - since;
}

/* The same for a thread that is off the CPU still. */
static __always_inline __u64 runnable_in_flight(struct task_struct *task, struct task_state *ts,
						__u64 since, __u64 end)
{
	__u64 queued, late = bpf_ktime_get_ns() - end;

	if (end <= since)
		return 0;
	if (ts->state == WIRE_STATE_R)
		return end - since;
	/* A stamp left by an earlier, needless wake-up is meaningless while a thread sleeps. */
	if (classify_state(false, read_task_state(task)) != WIRE_STATE_R)
		return 0;
	if (settings.wakeup_stamps)
		return part_after(ts->woken, since, end);
	queued = queued_until_now(task);
	queued = queued > late ? queued - late : 0;
	return queued < end - since ? queued : end - since;
}

/*
 * True if a runnable task that leaves the CPU is throttled by its cgroup's quota: the task is off
 * its queue (6.18 and later), or its queue is.
 */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (bpf_core_field_exists(struct sched_entity, cfs_rq) &&
	    bpf_core_field_exists(struct cfs_rq, throttle_count))
		return task->se.cfs_rq->throttle_count > 0;
	return false;
}

/*
 * The growth of run_delay, limited to the recording. Within the recording the scheduler's figure is
 * used unchanged, so that the sums are those of schedstat.
 */
static __always_inline __u64 delay_in_recording(__u64 delay, __u64 since, __u64 end)
{
	__u64 begin = since ? since : start_ns, length = end > begin ? end - begin : 0;

	if (since > start_ns && end != end_ns)
		return delay;
	return delay < length ? delay : length;
}

/*
 * Adds a thread's wait for a CPU, now over, to the counters of the CPU and of the thread. The first
 * wait of a thread belongs to no block, and since is 0.
 */
static __always_inline void count_runnable(struct cpu *cpu, struct task_state *ts, __u64 since,
					   __u64 end, __u64 part, __u64 delay)
{
	struct wire_accounts *accounts = &cpu->own.accounts;
	__u64 ns = part;

	if (bpf_core_field_exists(struct sched_info, run_delay))
		ns = delay_in_recording(delay, since, end);
	/* The iterator has counted that wait until the end. */
	if (!ns || (!since && ts->claimed))
		return;
	if (since && ts->throttled) {
		accounts->throttled_ns += ns;
		ts->throttled_ns += ns;
		return;
	}
	accounts->runnable_ns += ns;
	if (!since || ts->state == WIRE_STATE_R)
		accounts->preempted_ns += ns;
	ts->runnable_ns += ns;
}

/* Copies the task's figures to where a hook or, at the end, an iterator reports them from. */
static __always_inline void describe_thread(struct wire_thread *thread, struct task_struct *task,
					    struct task_state *ts)
{
	__builtin_memset(thread, 0, sizeof(*thread));
	thread->head.kind = WIRE_THREAD;
	thread->head.size = sizeof(*thread);
	thread->pid = target_pid(task, ts);
	thread->tid = target_tid(task, ts);
	thread->runnable_ns = __sync_lock_test_and_set(&ts->runnable_ns, 0);
	thread->throttled_ns = __sync_lock_test_and_set(&ts->throttled_ns, 0);
	bpf_probe_read_kernel_str(thread->comm, sizeof(thread->comm), task->comm);
}

/*
 * A thread has left its last CPU: its figures would die with its state. No iterator shows a thread
 * that was reaped before.
 */
static __always_inline void tell_thread(void *ctx, struct task_struct *task,
					struct task_state *ts)
{
	struct wire_thread thread;

	if (ts->runnable_ns + ts->throttled_ns < WIRE_THREAD_LEAST_NS)
		return;
	describe_thread(&thread, task, ts);
	send_record(ctx, &thread, sizeof(thread));
}

#endif /* DENET_RUNQUEUE_BPF_H */
