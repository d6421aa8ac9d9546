/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_MAPS_H
#define DENET_UNWIND_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The executable mappings of one address space, those that are and those that have been:
 * each has the time from which and until which it was there. Shared by a fork until one of
 * both changes its own.
 */
struct layout;
struct space_file; /* unwind/space.h */

/* A mapping, or a part of one that has outlived the rest. */
struct layout_map {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff; /* in the file, bytes */
	uint64_t born;	/* ns; there at this time */
	uint64_t died;	/* no longer there at this time; UINT64_MAX: it lives */
	struct space_file *file;
};

/* Mappings that a layout can have, the dead ones included. */
#define LAYOUT_MAX_MAPS 8192

/*
 * Empty, with one reference; NULL: no memory. The id tells it apart: the caller gives no
 * number twice.
 */
struct layout *layout__new(uint64_t id);

/* Another reference. Returns layout. */
struct layout *layout__get(struct layout *layout);

/* Drops a reference; the last one frees. Accepts NULL. */
void layout__put(struct layout *layout);

/* The same mappings, for one owner alone; NULL: no memory. */
struct layout *layout__copy(const struct layout *layout, uint64_t id);

bool layout__is_shared(const struct layout *layout);

uint64_t layout__id(const struct layout *layout);

/*
 * A mapping came into being at map->born (map->died is not looked at). Takes over a reference
 * to map->file, also when it fails. What it covers dies then. A layout with no room first
 * forgets its dead. 0, -ENOSPC or -ENOMEM. The layout must not be shared.
 */
int layout__add(struct layout *layout, const struct layout_map *map);

/* Whether a mapping was at an address at a time. */
static inline bool layout_map__holds(const struct layout_map *map, uint64_t time, uint64_t addr)
{
	return addr >= map->start && addr < map->end && time >= map->born && time < map->died;
}

/* The mapping at an address at a time, NULL: none. Valid until the layout changes. */
const struct layout_map *layout__find(const struct layout *layout, uint64_t time, uint64_t addr);

/* The mapping that begins first at or behind an address at a time; NULL: none. */
const struct layout_map *layout__after(const struct layout *layout, uint64_t time, uint64_t addr);

/* Drops what had died by then. */
void layout__forget(struct layout *layout, uint64_t before);

size_t layout__count(const struct layout *layout);

/* Mappings are missing: one found no room, here or in what this is a copy of, or was not added. */
bool layout__is_incomplete(const struct layout *layout);
void layout__set_incomplete(struct layout *layout);

#endif /* DENET_UNWIND_MAPS_H */
