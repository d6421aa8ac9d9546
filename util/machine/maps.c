/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/mapped_file.h"

/* Entries that a new mapping adds at most: itself, and the rests of an old one on both sides. */
#define ROOM 3

struct maps {
	unsigned int refs;
	bool incomplete;
	uint64_t id;
	size_t nr;
	size_t capacity;
	size_t nr_living;
	struct maps_entry *all;  /* in the order of their arrival */
	uint16_t *living; /* indices of the live ones, by address; none overlaps another */
};

/* Ended mappings are dropped at this size; so large that the cost per mapping is small. */
#define MAX_ALL (2 * MAPS_MAX)
_Static_assert(MAX_ALL <= UINT16_MAX, "an index has 16 bits");

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
		mapped_file__put(maps->all[i].file);
	free(maps->all);
	free(maps->living);
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

size_t maps__nr_dead(const struct maps *maps)
{
	return maps->nr - maps->nr_living;
}

size_t maps__nr_living(const struct maps *maps)
{
	return maps->nr_living;
}

const struct maps_entry *maps__living(const struct maps *maps, size_t i)
{
	return &maps->all[maps->living[i]];
}

bool maps__is_incomplete(const struct maps *maps)
{
	return maps->incomplete;
}

void maps__set_incomplete(struct maps *maps)
{
	maps->incomplete = true;
}

static int reserve(struct maps *maps, size_t nr)
{
	size_t capacity = maps->capacity ? maps->capacity : 8;
	struct maps_entry *all;
	uint16_t *living;

	if (nr <= maps->capacity)
		return 0;
	while (capacity < nr)
		capacity *= 2;
	all = reallocarray(maps->all, capacity, sizeof(*all));
	if (!all)
		return -ENOMEM;
	maps->all = all;
	living = reallocarray(maps->living, capacity, sizeof(*living));
	if (!living)
		return -ENOMEM;
	maps->living = living;
	maps->capacity = capacity;
	return 0;
}

struct maps *maps__copy(const struct maps *from, uint64_t id)
{
	struct maps *maps = maps__new(id);

	if (!maps || reserve(maps, from->nr)) {
		maps__put(maps);
		return NULL;
	}
	maps->nr = from->nr;
	maps->nr_living = from->nr_living;
	maps->incomplete = from->incomplete;
	if (from->nr)
		memcpy(maps->all, from->all, from->nr * sizeof(*maps->all));
	if (from->nr_living)
		memcpy(maps->living, from->living, from->nr_living * sizeof(*maps->living));
	for (size_t i = 0; i < maps->nr; i++)
		mapped_file__get(maps->all[i].file);
	return maps;
}

/* Index of the first live mapping that ends behind an address. */
static size_t place_of(const struct maps *maps, uint64_t addr)
{
	size_t low = 0, high = maps->nr_living, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (maps__living(maps, middle)->end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Appends a mapping to all, and inserts it into the live ones at place. There is room. */
static void insert(struct maps *maps, size_t place, const struct maps_entry *map)
{
	memmove(&maps->living[place + 1], &maps->living[place],
		(maps->nr_living - place) * sizeof(*maps->living));
	maps->living[place] = (uint16_t)maps->nr;
	maps->nr_living++;
	maps->all[maps->nr++] = *map;
}

/* Adds the rests of a mapping on both sides of a new one. Returns their number. */
static size_t keep_rests(struct maps *maps, size_t place, const struct maps_entry *old,
			 const struct maps_entry *map)
{
	struct maps_entry rest = *old;
	size_t nr = 0;

	rest.born = map->born;
	if (old->start < map->start) {
		rest.end = map->start;
		mapped_file__get(rest.file);
		insert(maps, place + nr++, &rest);
	}
	if (old->end > map->end) {
		rest.end = old->end;
		rest.start = map->end;
		rest.pgoff = old->pgoff + (map->end - old->start);
		mapped_file__get(rest.file);
		insert(maps, place + nr++, &rest);
	}
	return nr;
}

/* Ends the live mapping at place. Returns the number of its rests, which live on there. */
static size_t end_at(struct maps *maps, size_t place, const struct maps_entry *map)
{
	struct maps_entry *old = &maps->all[maps->living[place]], was = *old;

	old->died = map->born;
	maps->nr_living--;
	memmove(&maps->living[place], &maps->living[place + 1],
		(maps->nr_living - place) * sizeof(*maps->living));
	return keep_rests(maps, place, &was, map);
}

/*
 * A mapping ends those that it covers and that are not younger, and is itself ended by younger
 * ones: mappings read from /proc may arrive after later records of the kernel.
 */
static void cover(struct maps *maps, struct maps_entry *map)
{
	size_t place = place_of(maps, map->start);

	while (place < maps->nr_living && maps__living(maps, place)->start < map->end) {
		const struct maps_entry *old = maps__living(maps, place);

		if (old->born <= map->born) {
			place += end_at(maps, place, map);
			continue;
		}
		if (old->born < map->died)
			map->died = old->born;
		place++;
	}
}

static struct maps_entry *find_same(const struct maps *maps, const struct maps_entry *map)
{
	size_t place = place_of(maps, map->start);
	struct maps_entry *old;

	if (place == maps->nr_living)
		return NULL;
	old = &maps->all[maps->living[place]];
	return old->start == map->start && old->end == map->end && old->pgoff == map->pgoff &&
			       old->file == map->file
		       ? old
		       : NULL;
}

bool maps__has(const struct maps *maps, const struct maps_entry *map)
{
	const struct maps_entry *same = find_same(maps, map);

	return same && same->born <= map->born;
}

static int make_room(struct maps *maps)
{
	if (maps->nr + ROOM > MAX_ALL)
		maps__forget(maps, UINT64_MAX);
	if (maps->nr_living + ROOM > MAPS_MAX) {
		maps->incomplete = true;
		return -ENOSPC;
	}
	return reserve(maps, maps->nr + ROOM);
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
		return 1;
	}
	err = make_room(maps);
	if (err) {
		mapped_file__put(map.file);
		return err;
	}
	cover(maps, &map);
	if (map.died == UINT64_MAX)
		insert(maps, place_of(maps, map.start), &map);
	else
		maps->all[maps->nr++] = map;
	return 0;
}

const struct maps_entry *maps__find(const struct maps *maps, uint64_t time, uint64_t addr)
{
	size_t place = place_of(maps, addr);

	if (place < maps->nr_living && maps_entry__holds(maps__living(maps, place), time, addr))
		return maps__living(maps, place);
	for (size_t i = maps__nr_dead(maps) ? maps->nr : 0; i-- > 0;) {
		if (maps_entry__holds(&maps->all[i], time, addr))
			return &maps->all[i];
	}
	return NULL;
}

const struct maps_entry *maps__after(const struct maps *maps, uint64_t time, uint64_t addr)
{
	const struct maps_entry *first = NULL;

	for (size_t place = place_of(maps, addr); place < maps->nr_living && !first; place++) {
		const struct maps_entry *map = maps__living(maps, place);

		if (map->start >= addr && time >= map->born)
			first = map;
	}
	for (size_t i = 0; maps__nr_dead(maps) && i < maps->nr; i++) {
		const struct maps_entry *map = &maps->all[i];

		if (map->start >= addr && time >= map->born && time < map->died &&
		    (!first || map->start < first->start))
			first = map;
	}
	return first;
}

const struct maps_entry *maps__before(const struct maps *maps, uint64_t time, uint64_t addr)
{
	size_t place = place_of(maps, addr);
	const struct maps_entry *last = NULL;

	/* The mapping at that place may hold the address, or lie behind it. */
	if (place < maps->nr_living)
		place++;
	while (place-- > 0 && !last) {
		const struct maps_entry *map = maps__living(maps, place);

		if (map->start <= addr && time >= map->born)
			last = map;
	}
	for (size_t i = 0; maps__nr_dead(maps) && i < maps->nr; i++) {
		const struct maps_entry *map = &maps->all[i];

		if (map->start <= addr && time >= map->born && time < map->died &&
		    (!last || map->start > last->start))
			last = map;
	}
	return last;
}

const struct maps_entry *maps__entry(const struct maps *maps, size_t i)
{
	return &maps->all[i];
}

void maps__forget(struct maps *maps, uint64_t before)
{
	uint16_t place_now[MAX_ALL];
	size_t kept = 0;

	if (!maps__nr_dead(maps))
		return;
	for (size_t i = 0; i < maps->nr; i++) {
		struct maps_entry *map = &maps->all[i];

		if (map->died != UINT64_MAX && map->died <= before) {
			mapped_file__put(map->file);
			continue;
		}
		place_now[i] = (uint16_t)kept;
		maps->all[kept++] = *map;
	}
	maps->nr = kept;
	for (size_t i = 0; i < maps->nr_living; i++)
		maps->living[i] = place_now[maps->living[i]];
}
