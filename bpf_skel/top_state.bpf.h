/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a thread, as denet-top names it. */
#ifndef DENET_TOP_STATE_BPF_H
#define DENET_TOP_STATE_BPF_H

#include "task.bpf.h"
#include "top_wire.h"

#define EXIT_ZOMBIE 0x20

static __always_inline __u32 sleep_state(__u32 state)
{
	switch (classify_state(false, state)) {
	case WIRE_STATE_S:
		return TOP_WIRE_SLEEP;
	case WIRE_STATE_D:
		return TOP_WIRE_DISK;
	case WIRE_STATE_I:
		return TOP_WIRE_IDLE;
	case WIRE_STATE_T:
		return TOP_WIRE_STOPPED;
	case WIRE_STATE_t:
		return TOP_WIRE_TRACED;
	case WIRE_STATE_P:
		return TOP_WIRE_PARKED;
	case WIRE_STATE_X:
		return TOP_WIRE_DEAD;
	default:
		return TOP_WIRE_OTHER;
	}
}

/* As anybody sees it: a thread that the one who looks has displaced waits for a CPU. */
static __always_inline __u32 visible_state(struct task_struct *task)
{
	__u32 state = read_task_state(task);
	int exit_state = task->exit_state;

	if (exit_state)
		return exit_state & EXIT_ZOMBIE ? TOP_WIRE_ZOMBIE : TOP_WIRE_DEAD;
	if (task->on_cpu)
		return TOP_WIRE_RUN;
	return state & TASK_OFF_BITS ? sleep_state(state) : TOP_WIRE_RUNQ;
}

#endif /* DENET_TOP_STATE_BPF_H */
