/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ACCOUNTS_H
#define DENET_BPF_ACCOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/*
 * What each CPU has counted on its own, added up. The maps are per-CPU arrays. All return 0 or
 * a negative errno.
 */

/* Values that begin with a struct wire_cpu. */
int accounts__sum(const struct bpf_map *map, struct wire_accounts *sum);

/*
 * Of the same: adds the blocks that each CPU has seen to counts, for nr CPUs, and those of
 * them that are in samples to *kept.
 */
int accounts__seen(const struct bpf_map *map, uint64_t *counts, size_t nr, uint64_t *kept);

/* A row of a histogram for each of WIRE_STATE_MAX states. */
int accounts__hist(const struct bpf_map *map, struct wire_hist *rows);

#endif /* DENET_BPF_ACCOUNTS_H */
