/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lengths of blocks instead of stacks: nothing is walked, nothing is sent. */
#ifndef DENET_HIST_BPF_H
#define DENET_HIST_BPF_H

#include "maps.bpf.h"

/* The shortest block of each bucket, ascending from 0, copied from user space's table. */
const volatile __u64 hist_bounds[WIRE_HIST_BUCKETS] = {};

/* A row for each state. A CPU has its own, so that nothing here is atomic. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_STATE_MAX); /* 1 where there is no histogram */
	__type(key, __u32);
	__type(value, struct wire_hist);
} hist SEC(".maps");

static __always_inline __u32 hist_bucket(__u64 ns)
{
	__u32 bucket = 0;

	_Static_assert(WIRE_HIST_BUCKETS == 32, "five steps halve another number of buckets");
#pragma unroll
	for (__u32 step = WIRE_HIST_BUCKETS / 2; step; step /= 2) {
		if (ns >= hist_bounds[bucket + step])
			bucket += step;
	}
	return bucket;
}

/* True if the block was counted in the histogram, its only outcome then. */
static __always_inline bool in_histogram(struct cpu *cpu, __u8 state, __u64 ns)
{
	struct wire_hist *row;
	__u32 key = state;

	if (!settings.histogram)
		return false;
	row = bpf_map_lookup_elem(&hist, &key);
	if (row)
		tally(&row->buckets[hist_bucket(ns)], ns);
	else
		tally_outcome(cpu, WIRE_OUTCOME_LOST_INTERNAL, ns);
	return true;
}

#endif /* DENET_HIST_BPF_H */
