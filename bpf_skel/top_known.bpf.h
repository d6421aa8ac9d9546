/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel stacks of threads that have not run since they were walked: nothing changes the stack of a
 * thread that is off the CPU, and whoever has its frames needs no second copy.
 */
#ifndef DENET_TOP_KNOWN_BPF_H
#define DENET_TOP_KNOWN_BPF_H

#include "maps.bpf.h"
#include "top_wire.h"

/* Of a thread when its stack was walked. */
struct top_known {
	__u64 switches; /* how often it had left its CPU, */
	__u64 last_run; /* and when it was there, by the scheduler's clock */
	__u64 wchan;
	__u32 generation; /* what user space has forgotten is of an earlier one */
	__u32 has_stack;  /* user space has the frames */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct top_known);
} top_known SEC(".maps");

__u32 top_generation; /* set by user space, before a pass */
__u32 top_skip_stacks; /* the same: this pass takes none */

static __always_inline bool wants_stacks(void)
{
	return settings.kernel_stacks && !top_skip_stacks;
}

static __always_inline __u64 known_time(struct task_struct *task)
{
	return BPF_CORE_READ(task, se.exec_start);
}

/* Uses what is known of a thread. False: its stack is to be walked. */
static __always_inline bool is_known(struct top_wire_sample *sample, struct task_struct *task)
{
	struct top_known *known = bpf_task_storage_get(&top_known, task, NULL, 0);

	if (!known || known->switches != sample->switches || known->last_run != known_time(task) ||
	    known->generation != top_generation || (wants_stacks() && !known->has_stack))
		return false;
	if (sample->state != TOP_WIRE_RUNQ)
		sample->wchan = known->wchan;
	if (wants_stacks())
		sample->flags |= TOP_WIRE_FLAG_SAME_KERNEL;
	return true;
}

/* A thread was written whose stack begins at wchan. */
static __always_inline void note_known(const struct top_wire_sample *sample,
				       struct task_struct *task, __u64 wchan)
{
	struct top_known *known =
		bpf_task_storage_get(&top_known, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!known)
		return;
	known->switches = sample->switches;
	known->last_run = known_time(task);
	known->wchan = wchan;
	known->generation = top_generation;
	known->has_stack = (sample->flags & TOP_WIRE_FLAG_KERNEL) != 0;
}

#endif /* DENET_TOP_KNOWN_BPF_H */
