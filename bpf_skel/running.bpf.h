/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time on a CPU, with settings.on_cpu: all of a thread's life in the recording is running or rest,
 * and both only grow. A thread's own switches write them, with plain stores; readers on other CPUs
 * calculate the current stretch from its begin.
 */
#ifndef DENET_RUNNING_BPF_H
#define DENET_RUNNING_BPF_H

#include "filter.bpf.h"
#include "task.bpf.h"

#define RUN_TOLD (~0U) /* run_seen: all of it has been reported, the thread has ended */

/* When its life in the recording began. */
static __always_inline __u64 life_start(const struct task_state *ts)
{
	return ts->born > start_ns ? ts->born : start_ns;
}

/* The begin of the current stretch on a CPU; 0: off the CPU. */
static __always_inline __u64 running_since(const struct task_state *ts)
{
	if (ts->on_since)
		return ts->on_since;
	/* It has run since before the recording, and not left its CPU since. */
	return !ts->ran && !ts->since && !ts->rest_ns ? life_start(ts) : 0;
}

/* Running time up to a time. Run time is read first: a stretch that ends meanwhile is left out. */
static __always_inline __u64 run_until(const struct task_state *ts, __u64 time)
{
	__u64 ns = *(const volatile __u64 *)&ts->run_ns;
	__u64 since = running_since(ts);

	return since && time > since ? ns + (time - since) : ns;
}

/* A thread leaves its CPU. Time that the filters leave out is neither reported nor missing. */
static __always_inline void end_running(struct task_struct *task, struct task_state *ts,
					__u64 now)
{
	__u64 since = running_since(ts);

	ts->on_since = 0;
	if (!since)
		return;
	if (is_wanted(task, ts, bpf_get_smp_processor_id()))
		ts->run_ns += now - since;
	else
		ts->rest_ns += now - since;
}

/*
 * A thread has got a CPU; over: after the end of the recording. Returns the time since when it was
 * off, which is its start in the recording for a thread that came back before the first pass
 * reached it.
 */
static __always_inline __u64 begin_running(struct task_state *ts, __u64 since, __u64 woken,
					   __u64 delay, __u64 end, bool over)
{
	/* It was on a CPU at the end, and a stamp is one of the start, see stamp_sleeper(). */
	if (ts->on_since && over)
		return 0;
	if (!over) {
		if (!since && !ts->ran && !ts->rest_ns && !ts->on_since) {
			since = life_start(ts);
			/* A preempted thread has been queued all the time. */
			ts->state = woken || since + delay < end ? WIRE_STATE_S : WIRE_STATE_R;
		}
		ts->on_since = end;
		ts->ran = 1;
	} else {
		end = end_ns;
	}
	if (since)
		ts->rest_ns += end - since;
	return since;
}

/* A thread is born: until its first CPU it is runnable. The end may have come since it was. */
static __always_inline void begin_life(struct task_struct *task, struct task_state *ts)
{
	if (phase < WIRE_PHASE_RUNNING || task->start_time <= start_ns)
		return;
	ts->born = task->start_time;
	ts->state = WIRE_STATE_R;
	ts->since = ts->born;
}

/* The part that the current stretch on a CPU, or the last one, belongs to, by the filters. */
static __always_inline __u64 *part_of(struct wire_run *run, struct task_struct *task,
				      struct task_state *ts)
{
	return is_wanted(task, ts, last_cpu(task)) ? &run->run_ns : &run->rest_ns;
}

static __always_inline void describe_run(struct wire_run *run, struct task_struct *task,
					 struct task_state *ts, __u64 time)
{
	__u64 since;

	run->head.kind = WIRE_RUN;
	run->head.size = sizeof(*run);
	run->incarnation = ts->incarnation;
	run->time = time;
	/* Read first: a stretch that ends meanwhile is left out. */
	run->run_ns = *(const volatile __u64 *)&ts->run_ns;
	run->rest_ns = ts->rest_ns;
	since = running_since(ts);
	if (since && time > since)
		*part_of(run, task, ts) += time - since;
	run->life_ns = 0;
	run->cgroup = sample_cgroup(task);
	run->pid = target_pid(task, ts);
	run->tid = target_tid(task, ts);
	run->cpu = last_cpu(task);
	run->flags = ts->flags & TASK_STATE_KTHREAD ? WIRE_BLOCK_KTHREAD : 0;
}

/*
 * Fills in the last record of a thread. True for the first caller only: the switch-out hook and the
 * iterator at the end of the recording may both get here.
 */
static __always_inline bool take_run(struct wire_run *run, struct task_struct *task,
				     struct task_state *ts, __u64 time)
{
	__u64 since = ts->since;

	describe_run(run, task, ts, time);
	run->life_ns = time - life_start(ts);
	/* Its current block was left out by the filters. */
	if (phase == WIRE_PHASE_CLOSING && since && !ts->on_since &&
	    __sync_val_compare_and_swap(&ts->since, since, 0) == since)
		run->rest_ns = ts->rest_ns += time - since;
	return __sync_lock_test_and_set(&ts->run_seen, RUN_TOLD) != RUN_TOLD;
}

/* A thread has left its last CPU: reports its running time. */
static __always_inline void tell_run(void *ctx, struct cpu *cpu, struct task_struct *task,
				     struct task_state *ts, __u64 time)
{
	struct wire_run run;

	if (take_run(&run, task, ts, time) && send_record(ctx, &run, sizeof(run)))
		cpu->own.accounts.lost_runs++;
}

/* At the end of a window: the running time of threads that have run since the last one. */
static __always_inline void report_run(struct seq_file *seq, struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	struct wire_run run;
	__u32 seen;

	if (!ts || ts->run_seen == RUN_TOLD || phase != WIRE_PHASE_RUNNING)
		return;
	describe_run(&run, task, ts, window_ns);
	seen = (__u32)run.run_ns & (RUN_TOLD >> 1);
	if (seen == ts->run_seen)
		return;
	if (!bpf_seq_write(seq, &run, sizeof(run)))
		ts->run_seen = seen;
}

/* The same at the end of the recording, of all of them. */
static __always_inline void report_last_run(struct seq_file *seq, struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	struct wire_run run;
	__u32 seen;

	if (!ts)
		return;
	seen = ts->run_seen;
	/* Without room in this read, the next one shows the task again. */
	if (take_run(&run, task, ts, end_ns) && bpf_seq_write(seq, &run, sizeof(run)))
		ts->run_seen = seen;
}

#endif /* DENET_RUNNING_BPF_H */
