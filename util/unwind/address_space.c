/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/address_space.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/log.h"

/* Fewer files than this are kept, mapped or not: whoever compiles maps the same ones again. */
#define SWEEP_MIN 1024
/* Where a program can have code. */
#define FIRST_CODE 4096
#define LAST_CODE (1ULL << 56)

/* What one program of a process, from its fork or exec to the next, has mapped. */
struct era {
	uint64_t since;
	struct maps *maps; /* NULL: nothing yet */
	struct era *before;
};

struct process {
	pid_t pid;
	pid_t parent; /* that it was forked by; 0: before the recording */
	uint64_t left;	  /* when it ended; UINT64_MAX: it lives */
	struct era *eras; /* the latest one first */
	struct process *next;
};

struct address_space {
	struct idmap by_pid; /* to struct process */
	struct process *processes;
	void *files_tree; /* tsearch(3)'s */
	struct mapped_file *files;
	size_t nr_files;
	size_t sweep_at;
	uint64_t last_file;
	uint64_t last_maps;
	uint64_t bytes;
	uint64_t refused;
	uint64_t full_maps; /* the same, for what one process has mapped */
};

void mapped_file__get(struct mapped_file *file)
{
	file->refs++;
}

/* One that nobody has mapped is freed by a sweep. */
void mapped_file__put(struct mapped_file *file)
{
	file->refs--;
}

static int file__compare(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->maj != y->maj)
		return x->maj < y->maj ? -1 : 1;
	if (x->min != y->min)
		return x->min < y->min ? -1 : 1;
	return strcmp(x->path, y->path);
}

static uint64_t file__bytes(const struct mapped_file *file)
{
	return sizeof(*file) + strlen(file->path) + 1;
}

static void file__delete(void *ptr)
{
	struct mapped_file *file = ptr;

	free(file->path);
	free(file);
}

static struct mapped_file *address_space__file(struct address_space *space,
					       const struct address_space_map *map)
{
	struct mapped_file key = { .path = (char *)(uintptr_t)map->path,
				  .maj = map->maj,
				  .min = map->min,
				  .ino = map->ino,
				  .generation = map->generation };
	struct mapped_file **node = tfind(&key, &space->files_tree, file__compare), *file;

	if (node)
		return *node;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = key;
	file->path = strdup(map->path);
	if (!file->path || !tsearch(file, &space->files_tree, file__compare)) {
		file__delete(file);
		return NULL;
	}
	file->next = space->files;
	space->files = file;
	file->id = ++space->last_file;
	space->nr_files++;
	space->bytes += file__bytes(file);
	return file;
}

struct address_space *address_space__new(void)
{
	struct address_space *space = calloc(1, sizeof(*space));

	if (space)
		space->sweep_at = SWEEP_MIN;
	return space;
}

/* All changes of a layout pass here or through add_map(), so that the bytes are right. */
static void put_maps(struct address_space *space, struct maps *maps)
{
	if (maps && !maps__is_shared(maps))
		space->bytes -= maps__count(maps) * sizeof(struct maps_entry);
	maps__put(maps);
}

static void delete_eras(struct address_space *space, struct era *era)
{
	struct era *before;

	for (; era; era = before) {
		before = era->before;
		put_maps(space, era->maps);
		free(era);
		space->bytes -= sizeof(*era);
	}
}

static void delete_process(struct address_space *space, struct process *process)
{
	delete_eras(space, process->eras);
	free(process);
	space->bytes -= sizeof(*process);
}

void address_space__delete(struct address_space *space)
{
	struct process *process;

	if (!space)
		return;
	while ((process = space->processes)) {
		space->processes = process->next;
		delete_process(space, process);
	}
	idmap__free(&space->by_pid);
	tdestroy(space->files_tree, file__delete);
	free(space);
}

static struct process *find_process(const struct address_space *space, pid_t pid)
{
	const uint64_t *value = idmap__find(&space->by_pid, (uint64_t)pid);

	return value ? (struct process *)(uintptr_t)*value : NULL;
}

static struct process *get_process(struct address_space *space, pid_t pid)
{
	struct process *process = find_process(space, pid);
	uint64_t *value;

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	value = process ? idmap__get(&space->by_pid, (uint64_t)pid) : NULL;
	if (!value) {
		free(process);
		return NULL;
	}
	*value = (uint64_t)(uintptr_t)process;
	process->pid = pid;
	process->left = UINT64_MAX;
	process->next = space->processes;
	space->processes = process;
	space->bytes += sizeof(*process);
	return process;
}

/* Takes over a reference to layout, also when it fails. */
static struct era *begin_era(struct address_space *space, struct process *process, uint64_t since,
			     struct maps *maps)
{
	struct era *era = malloc(sizeof(*era));

	if (!era) {
		put_maps(space, maps);
		return NULL;
	}
	*era = (struct era){ .since = since, .maps = maps, .before = process->eras };
	process->eras = era;
	space->bytes += sizeof(*era);
	return era;
}

/* The era that an event of that time belongs to. What /proc told of belongs to the first. */
static struct era *era_at(const struct process *process, uint64_t time)
{
	struct era *era = process->eras;

	while (era && era->before && era->since > time)
		era = era->before;
	return era;
}

static bool is_full(struct address_space *space)
{
	if (space->bytes < ADDRESS_SPACE_MAX_BYTES)
		return false;
	if (!space->refused)
		pr_warn("the maps of all processes take more than %llu MB: stacks through code "
			"that is mapped from now on are cut",
			ADDRESS_SPACE_MAX_BYTES >> 20);
	space->refused++;
	return true;
}

/* A layout that the era has for itself. */
static struct maps *own_maps(struct address_space *space, struct era *era)
{
	struct maps *own;

	if (era->maps && !maps__is_shared(era->maps))
		return era->maps;
	own = era->maps ? maps__copy(era->maps, ++space->last_maps)
			  : maps__new(++space->last_maps);
	if (!own)
		return NULL;
	space->bytes += maps__count(own) * sizeof(struct maps_entry);
	put_maps(space, era->maps);
	era->maps = own;
	return own;
}

static int add_map(struct address_space *space, pid_t pid, struct era *era,
		   const struct maps_entry *map)
{
	struct maps *maps = own_maps(space, era);
	size_t nr;
	int err;

	if (!maps)
		return -ENOMEM;
	nr = maps__count(maps);
	mapped_file__get(map->file);
	err = maps__add(maps, map);
	space->bytes += (maps__count(maps) - nr) * sizeof(*map);
	if (err != -ENOSPC)
		return err;
	if (!space->full_maps++)
		pr_warn("pid %d has more than %d executable mappings at a time: stacks through "
			"code that it maps from now on are cut, if they are unwound",
			(int)pid, LAYOUT_MAX_MAPS);
	space->refused++;
	return 0;
}

/* What a process maps finds no room: its layout, also if others share it, lacks something. */
static void refuse(struct address_space *space, pid_t pid, uint64_t time)
{
	const struct process *process = find_process(space, pid);
	const struct era *era = process ? era_at(process, time) : NULL;

	if (era && era->maps)
		maps__set_incomplete(era->maps);
}

int address_space__map(struct address_space *space, pid_t pid, const struct address_space_map *map,
		       uint64_t time)
{
	struct maps_entry new = {
		.start = map->start,
		.end = map->start + map->len,
		.pgoff = map->pgoff,
		.born = time,
	};
	struct process *process;
	struct era *era;

	if (new.end <= new.start)
		return 0;
	if (is_full(space)) {
		refuse(space, pid, time);
		return 0;
	}
	process = get_process(space, pid);
	new.file = process ? address_space__file(space, map) : NULL;
	if (!new.file)
		return -ENOMEM;
	/* Without a fork or an exec that was seen, it was there before all. */
	era = process->eras ? era_at(process, time) : begin_era(space, process, 0, NULL);
	return era ? add_map(space, pid, era, &new) : -ENOMEM;
}

int address_space__fork(struct address_space *space, pid_t pid, pid_t parent, uint64_t time)
{
	struct process *process, *from;
	struct maps *maps = NULL;
	struct era *era;

	if (pid == parent)
		return 0;
	process = get_process(space, pid);
	if (!process)
		return -ENOMEM;
	process->left = UINT64_MAX;
	process->parent = parent;
	from = find_process(space, parent);
	era = from ? era_at(from, time) : NULL;
	if (era && era->maps)
		maps = maps__get(era->maps);
	return begin_era(space, process, time, maps) ? 0 : -ENOMEM;
}

int address_space__exec(struct address_space *space, pid_t pid, uint64_t time)
{
	struct process *process = get_process(space, pid);

	if (!process)
		return -ENOMEM;
	/* What /proc yet tells of the time before must not get into the new program. */
	if (!process->eras && !begin_era(space, process, 0, NULL))
		return -ENOMEM;
	return begin_era(space, process, time, NULL) ? 0 : -ENOMEM;
}

void address_space__exit(struct address_space *space, pid_t pid, uint64_t time)
{
	struct process *process = find_process(space, pid);

	if (process)
		process->left = time;
}

pid_t address_space__parent(const struct address_space *space, pid_t pid)
{
	const struct process *process = find_process(space, pid);

	return process ? process->parent : 0;
}

/* An era ends when the next one begins; one that had ended by then goes, with all before. */
static void forget_eras(struct address_space *space, struct process *process, uint64_t before)
{
	size_t nr;

	for (struct era *era = process->eras; era; era = era->before) {
		if (era->maps && !maps__is_shared(era->maps)) {
			nr = maps__count(era->maps);
			maps__forget(era->maps, before);
			space->bytes -=
				(nr - maps__count(era->maps)) * sizeof(struct maps_entry);
		}
		if (era->since <= before) {
			delete_eras(space, era->before);
			era->before = NULL;
		}
	}
}

/* Forgets the files that nobody has mapped. */
static void sweep(struct address_space *space)
{
	struct mapped_file **at = &space->files, *file;

	while ((file = *at)) {
		if (file->refs) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		tdelete(file, &space->files_tree, file__compare);
		space->bytes -= file__bytes(file);
		space->nr_files--;
		file__delete(file);
	}
	space->sweep_at = 2 * space->nr_files;
	if (space->sweep_at < SWEEP_MIN)
		space->sweep_at = SWEEP_MIN;
}

void address_space__forget(struct address_space *space, uint64_t before)
{
	struct process **at = &space->processes, *process;

	while ((process = *at)) {
		forget_eras(space, process, before);
		if (process->left > before) {
			at = &process->next;
			continue;
		}
		*at = process->next;
		idmap__remove(&space->by_pid, (uint64_t)process->pid);
		delete_process(space, process);
	}
	if (space->nr_files >= space->sweep_at)
		sweep(space);
}

const struct maps *address_space__at(const struct address_space *space, pid_t pid, uint64_t time)
{
	const struct process *process = find_process(space, pid);
	const struct era *era = process ? era_at(process, time) : NULL;

	return era && era->maps && maps__count(era->maps) ? era->maps : NULL;
}

size_t address_space__keep_possible(const uint64_t *ips, size_t nr)
{
	size_t kept = 0;

	while (kept < nr && ips[kept] >= FIRST_CODE && ips[kept] < LAST_CODE)
		kept++;
	return kept;
}

size_t address_space__keep_frames(const struct address_space *space, pid_t pid, uint64_t time,
				  const uint64_t *ips, size_t nr)
{
	const struct maps *maps = address_space__at(space, pid, time);
	const struct maps_entry *map;
	uint64_t start = 0, size = 0;
	size_t kept = 0;

	if (!maps || maps__is_incomplete(maps))
		return address_space__keep_possible(ips, nr);
	for (; kept < nr && ips[kept]; kept++) {
		/* A return address may be the one behind the mapping's last call. */
		uint64_t ip = ips[kept] - (kept > 0);

		/* Neighbours are in one file as a rule. */
		if (ip - start < size)
			continue;
		map = maps__find(maps, time, ip);
		if (!map)
			break;
		start = map->start;
		size = map->end - map->start;
	}
	return kept;
}

uint64_t address_space__refused(const struct address_space *space)
{
	return space->refused;
}

uint64_t address_space__bytes(const struct address_space *space)
{
	return space->bytes;
}
