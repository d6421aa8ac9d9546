/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ACCOUNTS_H
#define DENET_BPF_ACCOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/* Per-CPU counters. The maps, per-CPU arrays, belong to the wrapper. */
struct accounts {
	const struct bpf_map *cpus;       /* values begin with a struct wire_cpu */
	const struct bpf_map *waker_cpus; /* the same, of wake-ups */
	const struct bpf_map *clock_cpus; /* the same, of on-CPU samples; NULL: there are none */
	const struct bpf_map *hist;       /* a struct wire_hist for each of WIRE_STATE_MAX states */
};

/* Functions that read add the CPUs up, and return 0 or a negative errno. */

/* The counters of blocks, of wake-ups and of on-CPU samples. */
struct accounts_sums {
	struct wire_accounts blocks;
	struct wire_accounts wakeups;
	struct wire_accounts looks;
};
int accounts__read(const struct accounts *accounts, struct accounts_sums *sums);

/* Number of records of all three, and of their stacks, that the rings had no room for. Pure. */
uint64_t accounts__lost_records(const struct accounts_sums *sums);

/* Blocks so far, by the cost of their outcome. */
struct accounts_load {
	uint64_t kept;	    /* in samples */
	uint64_t not_drawn; /* drawn blocks stand for them */
	uint64_t short_ns;  /* in sums or not drawn */
};

/* Adds the blocks that each of nr CPUs has seen to counts, and all of them to load. 0 or -errno. */
int accounts__seen(const struct accounts *accounts, uint64_t *counts, size_t nr,
		   struct accounts_load *load);

/* The histogram: a row for each of WIRE_STATE_MAX states. */
int accounts__hist(const struct accounts *accounts, struct wire_hist *rows);

#endif /* DENET_BPF_ACCOUNTS_H */
