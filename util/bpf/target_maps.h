/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TARGET_MAPS_H
#define DENET_BPF_TARGET_MAPS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;
struct bpf_program;

/*
 * The targets: the keys that tasks are compared with, and the number of targets that live. The
 * program, maps and variables belong to the wrapper, which outlives this.
 */
struct target_maps {
	const struct bpf_map *targets;
	const struct bpf_map *cgroups;
	const struct bpf_map *bell;
	struct bpf_program *count; /* the iterator that counts those that live */
	__u64 *found;		   /* what it counted */
	__u32 *strays;		   /* see target_maps__has_strays() */
	__u32 *lists_named;	   /* see target_maps__list_named() */
	const __s64 *alive;	   /* births less deaths */
	const __u64 *births;
};

/* The maps, the program and the variables in a skeleton, of an object whose hooks find targets. */
#define TARGET_MAPS_OF(skel) \
	((struct target_maps){ \
		.targets = (skel)->maps.targets, \
		.cgroups = (skel)->maps.cgroups, \
		.bell = (skel)->maps.bell, \
		.count = (skel)->progs.count_targets, \
		.found = &(skel)->bss->targets_found, \
		.strays = &(skel)->bss->strays, \
		.lists_named = &(skel)->bss->lists_named, \
		.alive = &(skel)->bss->targets_alive, \
		.births = &(skel)->bss->last_incarnation, \
	})

/* Before the hooks are attached: a process, a thread or a user to record. */
int target_maps__add(const struct target_maps *target_maps, enum wire_target_kind kind,
		     uint32_t id);

/* The same: a cgroup to record, with all below it. hierarchy is of enum wire_cgroup_hierarchy. */
int target_maps__add_cgroup(const struct target_maps *target_maps, uint32_t hierarchy, uint64_t id);

/* A descriptor that becomes readable for good when the last target has died. Borrowed. */
int target_maps__bell(const struct target_maps *target_maps);

/* Births less deaths of targets, as the hooks saw them. */
int64_t target_maps__alive(const struct target_maps *target_maps);

/* How many targets there have been so far. */
uint64_t target_maps__births(const struct target_maps *target_maps);

/* Whether a target was seen since the last target_maps__find() whose birth was not shown. */
bool target_maps__has_strays(const struct target_maps *target_maps);

/*
 * Goes over all tasks: *found is how many of them are targets that live. One that is born
 * meanwhile may be missed. Targets whose birth was not shown are recorded from here on. 0 or a
 * negative errno.
 */
int target_maps__find(const struct target_maps *target_maps, uint64_t *found);

/*
 * Whether a list of mapped code is one of processes that user space has named, as those of targets:
 * then each of them is listed, also if only threads that are not its first one are targets.
 */
void target_maps__list_named(const struct target_maps *target_maps, bool named);

#endif /* DENET_BPF_TARGET_MAPS_H */
