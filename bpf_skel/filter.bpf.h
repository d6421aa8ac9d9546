/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters that narrow the targets: user, cgroup and CPU. All three may change while a task lives,
 * so they are evaluated when a block ends, and for tasks that are still blocked at the end. The
 * settings are known when the programs are loaded: unused filters cost nothing.
 */
#ifndef DENET_FILTER_BPF_H
#define DENET_FILTER_BPF_H

#include "cgroup.bpf.h"
#include "maps.bpf.h"

/* The CPU on which a task ran last. */
static __always_inline __u32 last_cpu(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	if (bpf_core_field_exists(old->cpu))
		return BPF_CORE_READ(old, cpu);
	return BPF_CORE_READ(task, thread_info.cpu);
}

static __always_inline bool on_wanted_cpu(__u32 cpu)
{
	if (!settings.filter.cpus)
		return true;
	return cpu < WIRE_MAX_CPUS &&
	       settings.filter.cpu_bits[(cpu / 64) & (WIRE_MAX_CPUS / 64 - 1)] >> (cpu & 63) & 1;
}

/* By the effective user id, as ps -u and top -u have it. */
static __always_inline bool of_wanted_user(struct task_struct *task)
{
	struct wire_target key = { .kind = WIRE_TARGET_UID };

	if (!settings.filter.users)
		return true;
	key.id = BPF_CORE_READ(task, real_cred, euid.val);
	return bpf_map_lookup_elem(&targets, &key);
}

static __always_inline bool is_wanted(struct task_struct *task, struct task_state *ts,
				      __u32 cpu)
{
	return on_wanted_cpu(cpu) && of_wanted_user(task) && in_wanted_cgroup(task, ts);
}

#endif /* DENET_FILTER_BPF_H */
