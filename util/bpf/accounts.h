/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ACCOUNTS_H
#define DENET_BPF_ACCOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/* What each CPU has counted on its own. The maps, per-CPU arrays, are the wrapper's. */
struct accounts {
	const struct bpf_map *cpus;       /* values begin with a struct wire_cpu */
	const struct bpf_map *waker_cpus; /* the same, of wake-ups */
	const struct bpf_map *hist;       /* a struct wire_hist for each of WIRE_STATE_MAX states */
};

/* All of these add the CPUs up, and return 0 or a negative errno. */

/* The accounts of blocks, and those of wake-ups. */
int accounts__read(const struct accounts *accounts, struct wire_accounts *sum,
		   struct wire_accounts *wakeups);

/*
 * Adds the blocks that each CPU has seen to counts, for nr CPUs, and those of them that are in
 * samples to *kept.
 */
int accounts__seen(const struct accounts *accounts, uint64_t *counts, size_t nr, uint64_t *kept);

/* The histogram: a row for each of WIRE_STATE_MAX states. */
int accounts__hist(const struct accounts *accounts, struct wire_hist *rows);

#endif /* DENET_BPF_ACCOUNTS_H */
