/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks: which of them are targets, and the state in which they left the CPU. */
#ifndef DENET_TASK_BPF_H
#define DENET_TASK_BPF_H

#include "maps.bpf.h"
#include "namespace.bpf.h"

#define PF_EXITING 0x00000004U
#define PF_KTHREAD 0x00200000U

#define CLONE_THREAD 0x00010000ULL

/* include/linux/sched.h; the same in all kernels that the programs load on. */
#define TASK_INTERRUPTIBLE 0x1U
#define TASK_UNINTERRUPTIBLE 0x2U
#define TASK_STOPPED_BIT 0x4U
#define TASK_TRACED_BIT 0x8U
#define TASK_EXIT_BITS 0x30U
#define TASK_PARKED_BIT 0x40U
#define TASK_DEAD_BIT 0x80U
#define TASK_NOLOAD_BIT 0x400U
#define TASK_RTLOCK_WAIT 0x1000U /* since 5.15 */
#define TASK_FROZEN 0x8000U	 /* since 6.1 */
#define TASK_OFF_BITS (0xffU | TASK_RTLOCK_WAIT | TASK_FROZEN)

/*
 * A state is a mask: 0x402 is idle, 0x2001 a freezable sleep. Frozen tasks, and tasks that wait for
 * a lock of PREEMPT_RT, are uninterruptible, as the kernel itself shows them.
 */
static __always_inline __u8 classify_state(bool preempt, __u32 state)
{
	if (preempt || !(state & TASK_OFF_BITS))
		return WIRE_STATE_R;
	if (state & (TASK_DEAD_BIT | TASK_EXIT_BITS))
		return WIRE_STATE_X;
	if (state & TASK_INTERRUPTIBLE)
		return WIRE_STATE_S;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD_BIT ? WIRE_STATE_I : WIRE_STATE_D;
	if (state & TASK_TRACED_BIT)
		return WIRE_STATE_t;
	if (state & TASK_STOPPED_BIT)
		return WIRE_STATE_T;
	if (state & TASK_PARKED_BIT)
		return WIRE_STATE_P;
	return state & (TASK_RTLOCK_WAIT | TASK_FROZEN) ? WIRE_STATE_D : WIRE_STATE_OTHER;
}

/* The process of a target, also while it exits. */
static __always_inline __u32 target_pid(struct task_struct *task, const struct task_state *ts)
{
	return settings.filter.pid_ns && ts->pid ? ts->pid : pid_of(task);
}

/* The thread. */
static __always_inline __u32 target_tid(struct task_struct *task, const struct task_state *ts)
{
	return settings.filter.pid_ns && ts->tid ? ts->tid : tid_of(task);
}

/* A target exits: keeps its ids, which the kernel removes before its last switch. */
static __always_inline void keep_numbers(struct task_struct *task, struct task_state *ts)
{
	if (!settings.filter.pid_ns)
		return;
	ts->pid = pid_of(task);
	ts->tid = tid_of(task);
}

static __always_inline __u32 read_task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)(void *)task, state);
}

/* Ancestors of a task to check, its parent first. */
#define MAX_ANCESTORS 32

/* True if the task descends from a target process, and not through the recorder. */
static __always_inline bool descends_from_target(struct task_struct *task)
{
	struct wire_target key = { .kind = WIRE_TARGET_PID };

	for (int i = 0; i < MAX_ANCESTORS; i++) {
		task = task->real_parent;
		key.id = pid_of(task);
		/* Process 0, and any outside of our namespace, is every task's ancestor. */
		if (!key.id || key.id == settings.own_pid)
			return false;
		if (bpf_map_lookup_elem(&targets, &key))
			return true;
	}
	return false;
}

/* Matches a task that exists at the start with the targets: TASK_STATE_* or -1. */
static __always_inline int match_target(struct task_struct *task)
{
	struct wire_target key = { .kind = WIRE_TARGET_PID, .id = pid_of(task) };
	int flags = task->flags & PF_KTHREAD ? TASK_STATE_KTHREAD : 0;

	if (!key.id || key.id == settings.own_pid)
		return -1;
	if (flags ? !settings.kernel_threads : settings.no_user_threads)
		return -1;
	if (settings.all || bpf_map_lookup_elem(&targets, &key))
		return flags;
	key = (struct wire_target){ .kind = WIRE_TARGET_TID, .id = tid_of(task) };
	if (bpf_map_lookup_elem(&targets, &key))
		return flags | TASK_STATE_BY_TID;
	if (settings.children && descends_from_target(task))
		return flags;
	return -1;
}

/*
 * Matches a task that current has just made. A task without a state is no target, nor are its
 * children: so the recorder's helpers stay out of an -a recording. But tasks that enter the
 * recorder's PID namespace from outside (`docker exec`) have no parent there.
 */
static __always_inline int inherit_target(struct task_struct *task, __u64 clone_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	bool by_others = parent->flags & PF_KTHREAD || !is_visible(parent);
	int flags = task->flags & PF_KTHREAD ? TASK_STATE_KTHREAD : 0;
	struct task_state *ts;

	if (!is_visible(task) || (flags ? !settings.kernel_threads : settings.no_user_threads))
		return -1;
	ts = bpf_task_storage_get(&task_states, parent, NULL, 0);
	if (settings.all)
		return ts || by_others ? flags : -1;
	if (!ts)
		return -1;
	if (settings.no_inherit && (ts->flags & TASK_STATE_BY_TID || !(clone_flags & CLONE_THREAD)))
		return -1;
	return flags | (ts->flags & TASK_STATE_BY_TID);
}

/* False of a task that has not run yet, or not left its first CPU yet. */
static __always_inline bool has_left_cpu(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/*
 * True if a task without a state should have one, when all are recorded: its birth was missed, or
 * there was no memory, or its parent has none for one of these reasons. The recorder and its
 * children have none.
 */
static __always_inline bool is_stray(struct task_struct *task)
{
	return settings.all && !settings.no_user_threads && !(task->flags & PF_KTHREAD) &&
	       is_visible(task) && pid_of(task) != settings.own_pid &&
	       pid_of(task->real_parent) != settings.own_pid;
}

static __always_inline void count_no_storage(void)
{
	struct cpu *cpu = this_cpu();

	if (cpu)
		__sync_fetch_and_add(&cpu->own.accounts.unseen, 1);
}

/* Gives a task its state. Never called from a switch hook. */
static __always_inline struct task_state *make_task_state(struct task_struct *task, int flags)
{
	struct task_state *ts;

	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	if (ts)
		return ts;
	ts = bpf_task_storage_get(&task_states, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!ts) {
		count_no_storage();
		return NULL;
	}
	ts->flags = (__u8)flags;
	ts->incarnation = __sync_fetch_and_add(&last_incarnation, 1) + 1;
	__sync_fetch_and_add(&targets_alive, 1);
	return ts;
}

#endif /* DENET_TASK_BPF_H */
