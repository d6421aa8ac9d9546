/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_MAPS_H
#define DENET_MACHINE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The executable mappings of one address space, those that are and those that have been:
 * each has the time from which and until which it was there. A fork shares its parent's until
 * one of both changes. Lookups and changes take a time that grows with the logarithm of their
 * number, but for mappings that have ended.
 */
struct maps;
struct mapped_file; /* machine/mapped_file.h */

/* A mapping, or a part of one that has outlived the rest. */
struct maps_entry {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff; /* in the file, bytes */
	uint64_t born;	/* ns; there at this time */
	uint64_t died;	/* no longer there at this time; UINT64_MAX: it lives */
	uint32_t prot, flags;
	struct mapped_file *file;
};

/* Mappings that an address space can have at a time. */
#define MAPS_MAX 8192

/*
 * Empty, with one reference; NULL: no memory. The id tells it apart: the caller gives no
 * number twice.
 */
struct maps *maps__new(uint64_t id);

/* Another reference. Returns maps. */
struct maps *maps__get(struct maps *maps);

/* Drops a reference; the last one frees. Accepts NULL. */
void maps__put(struct maps *maps);

/* The same mappings, for one owner alone; NULL: no memory. */
struct maps *maps__copy(const struct maps *maps, uint64_t id);

bool maps__is_shared(const struct maps *maps);

uint64_t maps__id(const struct maps *maps);

/*
 * A mapping came into being at map->born (map->died is not looked at). Takes over a reference
 * to map->file, also when it fails. What it covers ends then. Where too many have ended, these are
 * forgotten. 0; 1 if it is known already: the kernel tells a mapping again
 * when its protection changes; -ENOSPC or -ENOMEM. The maps must not be shared.
 */
int maps__add(struct maps *maps, const struct maps_entry *map);

/* Whether maps__add() of it would return 1. */
bool maps__has(const struct maps *maps, const struct maps_entry *map);

/* Whether a mapping was at an address at a time. */
static inline bool maps_entry__holds(const struct maps_entry *map, uint64_t time, uint64_t addr)
{
	return addr >= map->start && addr < map->end && time >= map->born && time < map->died;
}

/* The mapping at an address at a time, NULL: none. Valid until the maps change. */
const struct maps_entry *maps__find(const struct maps *maps, uint64_t time, uint64_t addr);

/* The mapping that begins first at or behind an address at a time; NULL: none. */
const struct maps_entry *maps__after(const struct maps *maps, uint64_t time, uint64_t addr);

/* The mapping that begins last at or before an address at a time; NULL: none. */
const struct maps_entry *maps__before(const struct maps *maps, uint64_t time, uint64_t addr);

/* Those that live, in the order of their addresses. */
size_t maps__nr_living(const struct maps *maps);
const struct maps_entry *maps__living(const struct maps *maps, size_t i);

/* Drops what had ended by then. */
void maps__forget(struct maps *maps, uint64_t before);

/* All of them, and how many of these have ended. */
size_t maps__count(const struct maps *maps);
size_t maps__nr_dead(const struct maps *maps);

/* Mappings are missing: one found no room, here or in what this is a copy of, or was not added. */
bool maps__is_incomplete(const struct maps *maps);
void maps__set_incomplete(struct maps *maps);

#endif /* DENET_MACHINE_MAPS_H */
