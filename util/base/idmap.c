/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/idmap.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64
#define KEEP_CAPACITY 4096

uint64_t idmap__mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 32;
}

static size_t home(const struct idmap *map, uint64_t id)
{
	uint64_t mixed = (id ^ id >> 32) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(mixed >> 20) & (map->capacity - 1);
}

/* Where the id is, or the free slot where it would go. */
static struct idmap_slot *probe(const struct idmap *map, uint64_t id)
{
	size_t i = home(map, id);

	while (map->slots[i].id != id && map->slots[i].id != IDMAP_NONE)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

uint64_t *idmap__find(const struct idmap *map, uint64_t id)
{
	struct idmap_slot *slot;

	if (!map->used)
		return NULL;
	slot = probe(map, id);
	return slot->id == id ? &slot->value : NULL;
}

static int grow(struct idmap *map)
{
	struct idmap bigger = {
		.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
		.used = map->used,
	};

	bigger.slots = malloc(bigger.capacity * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < bigger.capacity; i++)
		bigger.slots[i] = (struct idmap_slot){ .id = IDMAP_NONE };
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].id != IDMAP_NONE)
			*probe(&bigger, map->slots[i].id) = map->slots[i];
	}
	free(map->slots);
	*map = bigger;
	return 0;
}

uint64_t *idmap__get(struct idmap *map, uint64_t id)
{
	struct idmap_slot *slot;

	if (map->used * 4 >= map->capacity * 3 && grow(map))
		return NULL;
	slot = probe(map, id);
	if (slot->id != id) {
		*slot = (struct idmap_slot){ .id = id };
		map->used++;
	}
	return &slot->value;
}

void idmap__remove(struct idmap *map, uint64_t id)
{
	size_t hole, i, want;

	if (!idmap__find(map, id))
		return;
	hole = (size_t)(probe(map, id) - map->slots);
	map->used--;
	/* Entries behind the hole move up, unless that is before their home slot. */
	for (i = (hole + 1) & (map->capacity - 1); map->slots[i].id != IDMAP_NONE;
	     i = (i + 1) & (map->capacity - 1)) {
		want = home(map, map->slots[i].id);
		if (((i - want) & (map->capacity - 1)) < ((i - hole) & (map->capacity - 1)))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = (struct idmap_slot){ .id = IDMAP_NONE };
}

void idmap__clear(struct idmap *map)
{
	if (map->capacity > KEEP_CAPACITY) {
		free(map->slots);
		*map = (struct idmap){ 0 };
		return;
	}
	for (size_t i = 0; i < map->capacity; i++)
		map->slots[i] = (struct idmap_slot){ .id = IDMAP_NONE };
	map->used = 0;
}

void idmap__free(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ 0 };
}
