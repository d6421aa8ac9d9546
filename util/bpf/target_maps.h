/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TARGET_MAPS_H
#define DENET_BPF_TARGET_MAPS_H

#include <linux/types.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;
struct bpf_program;

/*
 * The targets, as the programs know them: whom to record, and how many of them live. Program,
 * maps and variables are the programs', which outlive this.
 */
struct roster {
	const struct bpf_map *targets;
	const struct bpf_map *cgroups;
	const struct bpf_map *bell;
	struct bpf_program *count; /* the iterator that counts those that live */
	__u64 *found;		   /* what it counted */
	const __s64 *alive;	   /* births less deaths */
	const __u64 *births;
};

/* Before the hooks are attached: a process, a thread or a user to record. */
int roster__add(const struct roster *roster, enum wire_target_kind kind, uint32_t id);

/* The same: a cgroup to record, with all below it. hierarchy is of enum wire_cgroup_hierarchy. */
int roster__add_cgroup(const struct roster *roster, uint32_t hierarchy, uint64_t id);

/* A descriptor that becomes readable for good when the last target has died. Borrowed. */
int roster__bell(const struct roster *roster);

/* Births less deaths of targets, as the hooks saw them. */
int64_t roster__alive(const struct roster *roster);

/* How many targets there have been so far. */
uint64_t roster__births(const struct roster *roster);

/*
 * Goes over all tasks: *found is how many of them are targets that live. One that is born
 * meanwhile may be missed. 0 or a negative errno.
 */
int roster__find(const struct roster *roster, uint64_t *found);

#endif /* DENET_BPF_TARGET_MAPS_H */
