/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that are walked at switch-out and wait for the end of their block, on kernels without a
 * hook at switch-in. The room of a task's stacks stays the same until the task dies; each block
 * overwrites it.
 */
#ifndef DENET_PARKED_BPF_H
#define DENET_PARKED_BPF_H

#include "maps.bpf.h"

#define PARKED_MAX 13312 /* tasks whose stacks are kept; 2.6 kB each, with the reason */

/* User space gives it one entry only if nothing is parked. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PARKED_MAX);
	__type(key, __u64); /* incarnation */
	__type(value, struct full_block);
} parked SEC(".maps");

/* The room of a task, made if it has none; its contents are invalid. */
static __always_inline struct full_block *parking_room(struct cpu *cpu, __u64 incarnation)
{
	struct full_block *full = bpf_map_lookup_elem(&parked, &incarnation);

	if (full)
		return full;
	bpf_map_update_elem(&parked, &incarnation, &cpu->full, BPF_NOEXIST);
	return bpf_map_lookup_elem(&parked, &incarnation);
}

/*
 * The stacks of the block that began at since. NULL, which is counted, if they found no room or the
 * task's switch-out was not seen.
 */
static __always_inline struct full_block *find_parked(struct cpu *cpu, __u64 incarnation,
						      __u64 since, __u64 ns)
{
	struct full_block *full = bpf_map_lookup_elem(&parked, &incarnation);

	if (full && full->block.since == since)
		return full;
	cpu->own.accounts.no_stack.count++;
	cpu->own.accounts.no_stack.ns += ns;
	full = &cpu->full;
	full->block.flags = 0;
	full->block.nr_kernel = full->block.nr_user = 0;
	return full;
}

static __always_inline void forget_parked(__u64 incarnation)
{
	bpf_map_delete_elem(&parked, &incarnation);
}

#endif /* DENET_PARKED_BPF_H */
