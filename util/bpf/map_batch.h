/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_MAP_BATCH_H
#define DENET_BPF_MAP_BATCH_H

#include <stdint.h>

struct bpf_map;

/* Keys and values of a hash map, side by side, as many as one system call brought. */
struct batch {
	void *keys;
	void *values;
	uint32_t capacity;
};

typedef int (*map_batch_fn)(void *ctx, const struct batch *batch, uint32_t nr);

/*
 * Takes everything out of a hash map, handing it to fn (NULL: it is dropped) batch by batch.
 * 0, fn's first error, or a negative errno.
 */
int map_batch__take_all(struct bpf_map *map, map_batch_fn fn, void *ctx);

#endif /* DENET_BPF_MAP_BATCH_H */
