/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two parts of a block: until its wake-up the thread was blocked, from there on it
 * waited for a CPU.
 */
#ifndef DENET_RUNQUEUE_BPF_H
#define DENET_RUNQUEUE_BPF_H

#include "task.bpf.h"

/*
 * The wake-up that is known when a thread is on a CPU again. It is not taken away at
 * switch-out: another CPU may wake a thread between the moment when it says that it sleeps
 * and the moment when it has left its CPU, and that is the wake-up of the block to come.
 */
static __always_inline __u64 take_wakeup(struct task_state *ts)
{
	__u64 woken;

	if (!settings.split_runqueue)
		return 0;
	woken = ts->woken;
	ts->woken = 0;
	return woken;
}

/* The same for a thread that is off the CPU still. Nobody has woken one that sleeps. */
static __always_inline __u64 wakeup_in_flight(struct task_struct *task, struct task_state *ts)
{
	if (!settings.split_runqueue ||
	    classify_state(false, read_task_state(task)) != WIRE_STATE_R)
		return 0;
	return ts->woken;
}

/*
 * How much of a block the thread waited for a CPU. Who was preempted did all the time. A
 * block whose wake-up was not seen stays whole.
 */
static __always_inline __u64 runqueue_part(__u8 state, __u64 since, __u64 woken, __u64 end)
{
	if (!settings.split_runqueue || end <= since)
		return 0;
	if (state == WIRE_STATE_R)
		return end - since;
	if (!woken || woken >= end)
		return 0;
	return end - (woken > since ? woken : since);
}

#endif /* DENET_RUNQUEUE_BPF_H */
