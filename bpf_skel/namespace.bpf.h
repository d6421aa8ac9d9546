/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ids of tasks in the recorder's PID namespace. In BPF ids are global; a recorder in a namespace of
 * its own (a container) uses others.
 */
#ifndef DENET_NAMESPACE_BPF_H
#define DENET_NAMESPACE_BPF_H

#include "maps.bpf.h"

/* Depth of the recorder's namespace below the first one; 0 until it has been determined. */
volatile __u32 pid_level;

/* In the iterators current is the recorder, whose namespace is the one to use. */
static __always_inline void learn_pid_level(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (settings.filter.pid_ns && !pid_level)
		pid_level = BPF_CORE_READ(task, thread_pid, level);
}

/* The number of a pid in the recorder's namespace, 0: it has none there. */
static __always_inline __u32 number_of(struct pid *pid)
{
	__u32 level = pid_level;
	struct upid *upid;

	if (!pid || !level || BPF_CORE_READ(pid, level) < level)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
	if (BPF_CORE_READ(upid, ns, ns.inum) != settings.filter.pid_ns)
		return 0;
	return (__u32)BPF_CORE_READ(upid, nr);
}

/*
 * The process of a task; 0: the recorder cannot see it, or it is an idle task. Read without a
 * helper, which would take as long as half of a whole switch: the verifier knows the type.
 */
static __always_inline __u32 pid_of(struct task_struct *task)
{
	if (!settings.filter.pid_ns)
		return (__u32)task->tgid;
	return number_of(BPF_CORE_READ(task, group_leader, thread_pid));
}

/* Of user_rules.bpf.h. */
static __always_inline __u32 rules_pid(struct task_struct *task)
{
	return pid_of(task);
}

/* The thread. */
static __always_inline __u32 tid_of(struct task_struct *task)
{
	if (!settings.filter.pid_ns)
		return (__u32)task->pid;
	return number_of(BPF_CORE_READ(task, thread_pid));
}

/* Whether it is in the recorder's namespace, or in one below it. */
static __always_inline bool is_visible(struct task_struct *task)
{
	return !settings.filter.pid_ns || number_of(BPF_CORE_READ(task, thread_pid));
}

#endif /* DENET_NAMESPACE_BPF_H */
