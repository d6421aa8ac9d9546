/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/address_space.h"

/* In the order of their coming, which is nearly that of their births. */
struct maps {
	unsigned int refs;
	uint64_t id;
	size_t nr;
	size_t nr_dead;
	size_t capacity;
	bool incomplete;
	struct maps_entry *entries;
};

struct maps *maps__new(uint64_t id)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->refs = 1;
	maps->id = id;
	return maps;
}

struct maps *maps__get(struct maps *maps)
{
	maps->refs++;
	return maps;
}

void maps__put(struct maps *maps)
{
	if (!maps || --maps->refs)
		return;
	for (size_t i = 0; i < maps->nr; i++)
		mapped_file__put(maps->entries[i].file);
	free(maps->entries);
	free(maps);
}

bool maps__is_shared(const struct maps *maps)
{
	return maps->refs > 1;
}

uint64_t maps__id(const struct maps *maps)
{
	return maps->id;
}

size_t maps__count(const struct maps *maps)
{
	return maps->nr;
}

bool maps__is_incomplete(const struct maps *maps)
{
	return maps->incomplete;
}

void maps__set_incomplete(struct maps *maps)
{
	maps->incomplete = true;
}

/* Takes over the reference to the file, also when it fails. */
static int append(struct maps *maps, const struct maps_entry *map)
{
	size_t capacity = maps->capacity ? 2 * maps->capacity : 16;
	struct maps_entry *entries;

	if (maps->nr == maps->capacity) {
		entries = reallocarray(maps->entries, capacity, sizeof(*entries));
		if (!entries) {
			mapped_file__put(map->file);
			return -ENOMEM;
		}
		maps->entries = entries;
		maps->capacity = capacity;
	}
	maps->entries[maps->nr++] = *map;
	if (map->died != UINT64_MAX)
		maps->nr_dead++;
	return 0;
}

struct maps *maps__copy(const struct maps *from, uint64_t id)
{
	struct maps *maps = maps__new(id);
	int err = 0;

	for (size_t i = 0; maps && i < from->nr && !err; i++) {
		mapped_file__get(from->entries[i].file);
		err = append(maps, &from->entries[i]);
	}
	if (err) {
		maps__put(maps);
		return NULL;
	}
	if (maps)
		maps->incomplete = from->incomplete;
	return maps;
}

/*
 * What is left of a mapping on the sides of a new one goes on to live. The address of the
 * array may change.
 */
static int keep_rests(struct maps *maps, const struct maps_entry *old,
		      const struct maps_entry *map)
{
	struct maps_entry rest = *old;
	int err = 0;

	rest.born = map->born;
	if (old->start < map->start) {
		rest.end = map->start;
		mapped_file__get(rest.file);
		err = append(maps, &rest);
	}
	if (old->end > map->end && !err) {
		rest.end = old->end;
		rest.start = map->end;
		rest.pgoff = old->pgoff + (map->end - old->start);
		mapped_file__get(rest.file);
		err = append(maps, &rest);
	}
	return err;
}

/*
 * Of two mappings at one place, the younger one has ended the older one: records of /proc may
 * come after the kernel's about what happened later.
 */
static int cover(struct maps *maps, struct maps_entry *map)
{
	size_t nr = maps->nr;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct maps_entry *old = &maps->entries[i], was = *old;

		if (old->died != UINT64_MAX || old->start >= map->end || old->end <= map->start)
			continue;
		if (old->born > map->born) {
			if (old->born < map->died)
				map->died = old->born;
			continue;
		}
		old->died = map->born;
		maps->nr_dead++;
		err = keep_rests(maps, &was, map);
	}
	return err;
}

/* The kernel tells a mapping again when its protection changes, as JITs do all the time. */
static struct maps_entry *find_same(struct maps *maps, const struct maps_entry *map)
{
	for (size_t i = maps->nr; i-- > 0;) {
		struct maps_entry *old = &maps->entries[i];

		if (old->died == UINT64_MAX && old->start == map->start && old->end == map->end &&
		    old->pgoff == map->pgoff && old->file == map->file)
			return old;
	}
	return NULL;
}

int maps__add(struct maps *maps, const struct maps_entry *new)
{
	struct maps_entry map = *new, *same = find_same(maps, new);
	int err;

	map.died = UINT64_MAX;
	if (same) {
		if (map.born < same->born)
			same->born = map.born;
		mapped_file__put(map.file);
		return 0;
	}
	/* Three more at most: it, and the rests of one that it divides. */
	if (maps->nr + 3 > LAYOUT_MAX_MAPS)
		maps__forget(maps, UINT64_MAX);
	if (maps->nr + 3 > LAYOUT_MAX_MAPS) {
		maps->incomplete = true;
		mapped_file__put(map.file);
		return -ENOSPC;
	}
	err = cover(maps, &map);
	if (err) {
		mapped_file__put(map.file);
		return err;
	}
	return append(maps, &map);
}

const struct maps_entry *maps__find(const struct maps *maps, uint64_t time, uint64_t addr)
{
	for (size_t i = maps->nr; i-- > 0;) {
		const struct maps_entry *map = &maps->entries[i];

		if (maps_entry__holds(map, time, addr))
			return map;
	}
	return NULL;
}

const struct maps_entry *maps__after(const struct maps *maps, uint64_t time, uint64_t addr)
{
	const struct maps_entry *first = NULL;

	for (size_t i = 0; i < maps->nr; i++) {
		const struct maps_entry *map = &maps->entries[i];

		if (map->start >= addr && time >= map->born && time < map->died &&
		    (!first || map->start < first->start))
			first = map;
	}
	return first;
}

void maps__forget(struct maps *maps, uint64_t before)
{
	size_t kept = 0;

	if (!maps->nr_dead)
		return;
	for (size_t i = 0; i < maps->nr; i++) {
		struct maps_entry *map = &maps->entries[i];

		if (map->died != UINT64_MAX && map->died <= before) {
			mapped_file__put(map->file);
			maps->nr_dead--;
		} else {
			maps->entries[kept++] = *map;
		}
	}
	maps->nr = kept;
}
