/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_USED_MAPS_H
#define DENET_BPF_USED_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct bpf_object;

/* A map of an object, and whether the programs that will be loaded use it. */
struct used_map {
	const struct bpf_map *map;
	bool used;
};

/*
 * Objects share headers, and so have maps that only others use: before the load, keeps libbpf from
 * creating maps that are not among these. Those of global variables are always created. 0 or a
 * negative errno.
 */
int used_maps__choose(struct bpf_object *object, const struct used_map *maps, size_t nr);

#endif /* DENET_BPF_USED_MAPS_H */
