/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/address_space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/units.h"

/* A bound of the time from an exec's record to the first mapping of its program. */
#define EXEC_MAX_NS (100 * NSEC_PER_MSEC)

uint64_t map_store__bytes(const struct map_store *store)
{
	return store->bytes + store->files.bytes;
}

/* Maps change only here, in own_maps() and in add_map(), which keep the count of bytes. */
static void put_maps(struct map_store *store, struct maps *maps)
{
	if (maps && !maps__is_shared(maps))
		store->bytes -= maps__count(maps) * sizeof(struct maps_entry);
	maps__put(maps);
}

static void delete_eras(struct map_store *store, struct era *era)
{
	struct era *before;

	for (; era; era = before) {
		before = era->before;
		put_maps(store, era->maps);
		free(era);
		store->bytes -= sizeof(*era);
	}
}

/* Takes over a reference to maps, also on failure. */
static struct era *begin_era(struct address_space *space, struct map_store *store, uint64_t since,
			     struct maps *maps)
{
	struct era *era = malloc(sizeof(*era));

	if (!era) {
		put_maps(store, maps);
		return NULL;
	}
	*era = (struct era){ .since = since, .maps = maps, .before = space->eras };
	era->mapped = maps && maps__count(maps) ? since : UINT64_MAX;
	space->eras = era;
	store->bytes += sizeof(*era);
	return era;
}

/* The era that covers the time. Mappings read from /proc, of time 0, belong to the first. */
static struct era *era_at(const struct address_space *space, uint64_t time)
{
	struct era *era = space->eras;

	while (era && era->before && era->since > time)
		era = era->before;
	return era;
}

/*
 * Whether a thread of that time may still be in the execve(2) that began the era. The kernel maps
 * the new program soon: if no mapping comes for long, its record has been lost.
 */
static bool is_in_exec(const struct era *era, uint64_t time)
{
	return era->before && time < era->mapped && time < era->since + EXEC_MAX_NS;
}

static bool is_full(struct map_store *store)
{
	if (map_store__bytes(store) < MAP_STORE_MAX_BYTES)
		return false;
	if (!store->refused++)
		pr_warn("the maps of all processes take more than %llu MB: frames in code that is "
			"mapped from now on may be cut, or have no names",
			MAP_STORE_MAX_BYTES >> 20);
	return true;
}

/* The era's maps, copied first if they are shared. */
static struct maps *own_maps(struct map_store *store, struct era *era)
{
	struct maps *own;

	if (era->maps && !maps__is_shared(era->maps))
		return era->maps;
	own = era->maps ? maps__copy(era->maps, ++store->last_id) : maps__new(++store->last_id);
	if (!own)
		return NULL;
	store->bytes += maps__count(own) * sizeof(struct maps_entry);
	put_maps(store, era->maps);
	era->maps = own;
	return own;
}

static int add_map(struct map_store *store, pid_t pid, struct era *era,
		   const struct maps_entry *map)
{
	struct maps *maps = own_maps(store, era);
	size_t nr;
	int err;

	if (!maps) {
		mapped_file__put(map->file);
		return -ENOMEM;
	}
	nr = maps__count(maps);
	err = maps__add(maps, map);
	store->bytes += (maps__count(maps) - nr) * sizeof(*map);
	if (err != -ENOSPC)
		return err;
	if (!store->full_maps++)
		pr_warn("pid %d has more than %d executable mappings at a time: stacks through "
			"code that it maps from now on are cut, if they are unwound",
			(int)pid, MAPS_MAX);
	store->refused++;
	return 0;
}

int address_space__map(struct address_space *space, struct map_store *store, pid_t pid,
		       const struct task_map *map, uint64_t time)
{
	struct maps_entry new = {
		.start = map->start,
		.end = map->start + map->len,
		.pgoff = map->pgoff,
		.born = time,
		.prot = map->prot,
		.flags = map->flags,
	};
	struct era *era;

	if (new.end <= new.start)
		return 0;
	/* If neither a fork nor an exec was seen, the mapping is of the first era. */
	era = space->eras ? era_at(space, time) : begin_era(space, store, 0, NULL);
	if (!era)
		return -ENOMEM;
	if (time < era->mapped)
		era->mapped = time;
	if (is_full(store)) {
		if (era->maps)
			maps__set_incomplete(era->maps);
		return 0;
	}
	new.file = mapped_files__get(&store->files, map);
	if (!new.file)
		return -ENOMEM;
	if (!era->maps || !maps__count(era->maps))
		new.file->program = true;
	if (era->maps && maps__has(era->maps, &new)) {
		mapped_file__put(new.file);
		return 1;
	}
	return add_map(store, pid, era, &new);
}

int address_space__begin(struct address_space *space, struct map_store *store,
			 const struct address_space *from, uint64_t time)
{
	const struct era *theirs = from ? era_at(from, time) : NULL;
	struct maps *maps = theirs && theirs->maps ? maps__get(theirs->maps) : NULL;

	/* Late reports of /proc from before an exec must not enter the new program. */
	if (!from && !space->eras && !begin_era(space, store, 0, NULL))
		return -ENOMEM;
	return begin_era(space, store, time, maps) ? 0 : -ENOMEM;
}

const struct maps *address_space__at(const struct address_space *space, uint64_t time)
{
	const struct era *era = era_at(space, time);

	while (era && is_in_exec(era, time))
		era = era->before;
	return era && era->maps && maps__count(era->maps) ? era->maps : NULL;
}

/* An era ends with the execve(2) that begins the next one. Drops those that had ended by then. */
bool address_space__forget(struct address_space *space, struct map_store *store, uint64_t before)
{
	bool more = false;

	for (struct era *era = space->eras; era; era = era->before) {
		if (era->maps && !maps__is_shared(era->maps)) {
			size_t nr = maps__count(era->maps);

			maps__forget(era->maps, before);
			store->bytes -= (nr - maps__count(era->maps)) * sizeof(struct maps_entry);
		}
		more |= era->maps && maps__nr_dead(era->maps);
		if (era->since <= before && !is_in_exec(era, before)) {
			delete_eras(store, era->before);
			era->before = NULL;
		}
	}
	return more || (space->eras && space->eras->before);
}

void address_space__free(struct address_space *space, struct map_store *store)
{
	delete_eras(store, space->eras);
	space->eras = NULL;
}
