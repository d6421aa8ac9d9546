/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_MAPS_H
#define DENET_MACHINE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The executable mappings of one address space, present and past, each with the times of its begin
 * and end. A fork shares its parent's until one of both changes. Lookups and changes take
 * logarithmic time, plus linear time in the number of ended mappings.
 */
struct maps;
struct mapped_file; /* machine/mapped_file.h */

/* A mapping, or a part of one whose rest has been replaced. */
struct maps_entry {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff; /* in the file, bytes */
	uint64_t born;	/* ns, included */
	uint64_t died;	/* excluded; UINT64_MAX: alive */
	uint32_t prot, flags;
	struct mapped_file *file;
};

/* Greatest number of mappings of an address space at a time. */
#define MAPS_MAX 8192

/* Empty, with one reference; NULL: no memory. The caller makes id unique. */
struct maps *maps__new(uint64_t id);

/* Another reference. Returns maps. */
struct maps *maps__get(struct maps *maps);

/* Drops a reference; the last one frees. Accepts NULL. */
void maps__put(struct maps *maps);

/* A copy of the mappings with one owner; NULL: no memory. */
struct maps *maps__copy(const struct maps *maps, uint64_t id);

/* Whether there is more than one reference. */
bool maps__is_shared(const struct maps *maps);

/* The id that they were made with. */
uint64_t maps__id(const struct maps *maps);

/*
 * Adds a mapping born at map->born; map->died is ignored. Takes over a reference to map->file, also
 * on failure. Mappings that it covers end. Where too many have ended, these are dropped. 0; 1 if it
 * is known already, since the kernel reports a mapping again when its protection changes; -ENOSPC
 * or -ENOMEM. The maps must not be shared.
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

/* The live mappings, by address. */
size_t maps__nr_living(const struct maps *maps);
const struct maps_entry *maps__living(const struct maps *maps, size_t i);

/* All mappings that are kept, in no order, i < maps__count(). */
const struct maps_entry *maps__entry(const struct maps *maps, size_t i);

/* Drops mappings that had ended by then. */
void maps__forget(struct maps *maps, uint64_t before);

/* Number of all mappings, and of those that have ended. */
size_t maps__count(const struct maps *maps);
size_t maps__nr_dead(const struct maps *maps);

/* True if mappings are missing here: dropped for want of room, or not added. */
bool maps__is_incomplete(const struct maps *maps);
void maps__set_incomplete(struct maps *maps);

#endif /* DENET_MACHINE_MAPS_H */
