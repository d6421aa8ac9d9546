/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Control groups, of two hierarchies: v2, and the v1 hierarchy that has the perf_event controller.
 * The id of a group is the inode number of its directory.
 */
#ifndef DENET_CGROUP_BPF_H
#define DENET_CGROUP_BPF_H

#include "maps.bpf.h"

#define CGROUP_DEPTH 64 /* deeper groups are taken to be below no other */

/* The groups to record, including all groups below them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_CGROUPS);
	__type(key, struct wire_cgroup);
	__type(value, __u32);
} cgroups SEC(".maps");

/* The group of the perf_event controller: of v2 unless that controller is mounted as v1. */
static __always_inline struct cgroup *perf_cgroup_of(struct css_set *set)
{
	struct cgroup_subsys_state *css = NULL;
	__u64 id;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, perf_event_cgrp_id))
		return BPF_CORE_READ(set, dfl_cgrp);
	id = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	bpf_probe_read_kernel(&css, sizeof(css),
			      (void *)set + bpf_core_field_offset(set->subsys) + id * sizeof(css));
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline struct cgroup *cgroup_of(struct task_struct *task, __u32 hierarchy)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);

	return hierarchy == WIRE_CGROUP_V2 ? BPF_CORE_READ(set, dfl_cgrp) : perf_cgroup_of(set);
}

static __always_inline __u64 cgroup_id(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

/* The id that samples carry. */
static __always_inline __u64 sample_cgroup(struct task_struct *task)
{
	return settings.cgroups ? cgroup_id(cgroup_of(task, settings.cgroups - 1)) : 0;
}

/* Room for one, since the kernel makes one group at a time. */
struct cgroup_room {
	struct wire_cgroup_born born;
	char path[WIRE_MAX_PATH];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgroup_room);
} cgroup_rooms SEC(".maps");

/*
 * Reports a new group, of the hierarchy of samples, to user space. The kernel's own CGROUP records
 * don't come for all of v2: only once controllers were enabled in its root.
 */
static __always_inline void tell_cgroup(void *ctx, struct cgroup *cgroup, const char *path)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *own = cgroup_of(task, settings.cgroups - 1);
	struct cgroup_room *room;
	__u32 zero = 0;
	__u64 size;
	long len;

	if (!settings.cgroups || BPF_CORE_READ(own, root) != BPF_CORE_READ(cgroup, root))
		return;
	room = bpf_map_lookup_elem(&cgroup_rooms, &zero);
	if (!room)
		return;
	len = bpf_probe_read_kernel_str(room->path, sizeof(room->path), path);
	if (len <= 0 || len > WIRE_MAX_PATH)
		return;
	size = sizeof(room->born) + (__u64)len;
	room->born.head.kind = WIRE_CGROUP_BORN;
	room->born.head.size = (__u32)size;
	room->born.id = cgroup_id(cgroup);
	send_record(ctx, room, size);
}

/*
 * True if a group is to be recorded or lies below such a one. A global function, whose loop the
 * verifier follows once; those take no kernel pointers, hence the number.
 */
__noinline __u32 is_below(__u64 address, __u32 hierarchy)
{
	struct cgroup *cgroup = (struct cgroup *)address;
	struct wire_cgroup key = { .hierarchy = hierarchy };
	struct cgroup_subsys_state *parent;

	for (__u32 i = 0; i < CGROUP_DEPTH; i++) {
		key.id = cgroup_id(cgroup);
		if (bpf_map_lookup_elem(&cgroups, &key))
			return 1;
		parent = BPF_CORE_READ(cgroup, self.parent);
		if (!parent)
			return 0;
		cgroup = BPF_CORE_READ(parent, cgroup);
	}
	return 0;
}

/*
 * The answer is cached in the task's state: a group never gets another parent, and its id is never
 * reused, so only a move of the task changes it.
 */
static __always_inline bool is_below_in(struct task_struct *task, struct task_state *ts,
					__u32 hierarchy)
{
	struct cgroup *cgroup = cgroup_of(task, hierarchy);
	__u64 id = cgroup_id(cgroup);

	if ((ts->cgroup[hierarchy] & ~TASK_CGROUP_WANTED) != id)
		ts->cgroup[hierarchy] =
			is_below((__u64)cgroup, hierarchy) ? id | TASK_CGROUP_WANTED : id;
	return ts->cgroup[hierarchy] & TASK_CGROUP_WANTED;
}

static __always_inline bool in_wanted_cgroup(struct task_struct *task, struct task_state *ts)
{
	if (!settings.filter.cgroup_v2 && !settings.filter.cgroup_v1)
		return true;
	if (settings.filter.cgroup_v2 && is_below_in(task, ts, WIRE_CGROUP_V2))
		return true;
	return settings.filter.cgroup_v1 && is_below_in(task, ts, WIRE_CGROUP_V1);
}

#endif /* DENET_CGROUP_BPF_H */
