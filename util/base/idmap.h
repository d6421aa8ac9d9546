/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_IDMAP_H
#define DENET_IDMAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * A map from 64-bit ids to 64-bit values, with open addressing. Zero-initialised is
 * empty. Any id but IDMAP_NONE can be a key.
 */
#define IDMAP_NONE UINT64_MAX

struct idmap {
	struct idmap_slot {
		uint64_t id;
		uint64_t value;
	} *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t used;
};

/* A key of several values: adds one to what the others gave, 0 for the first. */
uint64_t idmap__mix(uint64_t sum, uint64_t value);

/* The value's place, or NULL. Valid until the next change. */
uint64_t *idmap__find(const struct idmap *map, uint64_t id);

/* The value's place, made with value 0 where there was none; NULL: no memory. */
uint64_t *idmap__get(struct idmap *map, uint64_t id);

/* Takes an id out. Its absence is no error. */
void idmap__remove(struct idmap *map, uint64_t id);

/* Empties the map; a large one gives its memory back. */
void idmap__clear(struct idmap *map);

/* Empties the map and gives all its memory back. */
void idmap__free(struct idmap *map);

#endif /* DENET_IDMAP_H */
