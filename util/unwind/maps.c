/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/address_space.h"

/* In the order of their coming, which is nearly that of their births. */
struct layout {
	unsigned int refs;
	uint64_t id;
	size_t nr;
	size_t nr_dead;
	size_t capacity;
	bool incomplete;
	struct layout_map *maps;
};

struct layout *layout__new(uint64_t id)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	layout->refs = 1;
	layout->id = id;
	return layout;
}

struct layout *layout__get(struct layout *layout)
{
	layout->refs++;
	return layout;
}

void layout__put(struct layout *layout)
{
	if (!layout || --layout->refs)
		return;
	for (size_t i = 0; i < layout->nr; i++)
		space_file__put(layout->maps[i].file);
	free(layout->maps);
	free(layout);
}

bool layout__is_shared(const struct layout *layout)
{
	return layout->refs > 1;
}

uint64_t layout__id(const struct layout *layout)
{
	return layout->id;
}

size_t layout__count(const struct layout *layout)
{
	return layout->nr;
}

bool layout__is_incomplete(const struct layout *layout)
{
	return layout->incomplete;
}

void layout__set_incomplete(struct layout *layout)
{
	layout->incomplete = true;
}

/* Takes over the reference to the file, also when it fails. */
static int append(struct layout *layout, const struct layout_map *map)
{
	size_t capacity = layout->capacity ? 2 * layout->capacity : 16;
	struct layout_map *maps;

	if (layout->nr == layout->capacity) {
		maps = reallocarray(layout->maps, capacity, sizeof(*maps));
		if (!maps) {
			space_file__put(map->file);
			return -ENOMEM;
		}
		layout->maps = maps;
		layout->capacity = capacity;
	}
	layout->maps[layout->nr++] = *map;
	if (map->died != UINT64_MAX)
		layout->nr_dead++;
	return 0;
}

struct layout *layout__copy(const struct layout *from, uint64_t id)
{
	struct layout *layout = layout__new(id);
	int err = 0;

	for (size_t i = 0; layout && i < from->nr && !err; i++) {
		space_file__get(from->maps[i].file);
		err = append(layout, &from->maps[i]);
	}
	if (err) {
		layout__put(layout);
		return NULL;
	}
	if (layout)
		layout->incomplete = from->incomplete;
	return layout;
}

/*
 * What is left of a mapping on the sides of a new one goes on to live. The address of the
 * array may change.
 */
static int keep_rests(struct layout *layout, const struct layout_map *old,
		      const struct layout_map *map)
{
	struct layout_map rest = *old;
	int err = 0;

	rest.born = map->born;
	if (old->start < map->start) {
		rest.end = map->start;
		space_file__get(rest.file);
		err = append(layout, &rest);
	}
	if (old->end > map->end && !err) {
		rest.end = old->end;
		rest.start = map->end;
		rest.pgoff = old->pgoff + (map->end - old->start);
		space_file__get(rest.file);
		err = append(layout, &rest);
	}
	return err;
}

/*
 * Of two mappings at one place, the younger one has ended the older one: records of /proc may
 * come after the kernel's about what happened later.
 */
static int cover(struct layout *layout, struct layout_map *map)
{
	size_t nr = layout->nr;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct layout_map *old = &layout->maps[i], was = *old;

		if (old->died != UINT64_MAX || old->start >= map->end || old->end <= map->start)
			continue;
		if (old->born > map->born) {
			if (old->born < map->died)
				map->died = old->born;
			continue;
		}
		old->died = map->born;
		layout->nr_dead++;
		err = keep_rests(layout, &was, map);
	}
	return err;
}

/* The kernel tells a mapping again when its protection changes, as JITs do all the time. */
static struct layout_map *find_same(struct layout *layout, const struct layout_map *map)
{
	for (size_t i = layout->nr; i-- > 0;) {
		struct layout_map *old = &layout->maps[i];

		if (old->died == UINT64_MAX && old->start == map->start && old->end == map->end &&
		    old->pgoff == map->pgoff && old->file == map->file)
			return old;
	}
	return NULL;
}

int layout__add(struct layout *layout, const struct layout_map *new)
{
	struct layout_map map = *new, *same = find_same(layout, new);
	int err;

	map.died = UINT64_MAX;
	if (same) {
		if (map.born < same->born)
			same->born = map.born;
		space_file__put(map.file);
		return 0;
	}
	/* Three more at most: it, and the rests of one that it divides. */
	if (layout->nr + 3 > LAYOUT_MAX_MAPS)
		layout__forget(layout, UINT64_MAX);
	if (layout->nr + 3 > LAYOUT_MAX_MAPS) {
		layout->incomplete = true;
		space_file__put(map.file);
		return -ENOSPC;
	}
	err = cover(layout, &map);
	if (err) {
		space_file__put(map.file);
		return err;
	}
	return append(layout, &map);
}

const struct layout_map *layout__find(const struct layout *layout, uint64_t time, uint64_t addr)
{
	for (size_t i = layout->nr; i-- > 0;) {
		const struct layout_map *map = &layout->maps[i];

		if (layout_map__holds(map, time, addr))
			return map;
	}
	return NULL;
}

const struct layout_map *layout__after(const struct layout *layout, uint64_t time, uint64_t addr)
{
	const struct layout_map *first = NULL;

	for (size_t i = 0; i < layout->nr; i++) {
		const struct layout_map *map = &layout->maps[i];

		if (map->start >= addr && time >= map->born && time < map->died &&
		    (!first || map->start < first->start))
			first = map;
	}
	return first;
}

void layout__forget(struct layout *layout, uint64_t before)
{
	size_t kept = 0;

	if (!layout->nr_dead)
		return;
	for (size_t i = 0; i < layout->nr; i++) {
		struct layout_map *map = &layout->maps[i];

		if (map->died != UINT64_MAX && map->died <= before) {
			space_file__put(map->file);
			layout->nr_dead--;
		} else {
			layout->maps[kept++] = *map;
		}
	}
	layout->nr = kept;
}
