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
	struct layout *layout; /* NULL: nothing yet */
	struct era *before;
};

struct process {
	pid_t pid;
	pid_t parent; /* that it was forked by; 0: before the recording */
	uint64_t left;	  /* when it ended; UINT64_MAX: it lives */
	struct era *eras; /* the latest one first */
	struct process *next;
};

struct space {
	struct idmap by_pid; /* to struct process */
	struct process *processes;
	void *files_tree; /* tsearch(3)'s */
	struct space_file *files;
	size_t nr_files;
	size_t sweep_at;
	uint64_t last_file;
	uint64_t last_layout;
	uint64_t bytes;
	uint64_t refused;
	uint64_t full_layouts; /* the same, for what one process has mapped */
};

void space_file__get(struct space_file *file)
{
	file->refs++;
}

/* One that nobody has mapped is freed by a sweep. */
void space_file__put(struct space_file *file)
{
	file->refs--;
}

static int file__compare(const void *a, const void *b)
{
	const struct space_file *x = a, *y = b;

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

static uint64_t file__bytes(const struct space_file *file)
{
	return sizeof(*file) + strlen(file->path) + 1;
}

static void file__delete(void *ptr)
{
	struct space_file *file = ptr;

	free(file->path);
	free(file);
}

static struct space_file *space__file(struct space *space, const struct space_map *map)
{
	struct space_file key = { .path = (char *)(uintptr_t)map->path,
				  .maj = map->maj,
				  .min = map->min,
				  .ino = map->ino,
				  .generation = map->generation };
	struct space_file **node = tfind(&key, &space->files_tree, file__compare), *file;

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

struct space *space__new(void)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space)
		space->sweep_at = SWEEP_MIN;
	return space;
}

/* All changes of a layout pass here or through add_map(), so that the bytes are right. */
static void put_layout(struct space *space, struct layout *layout)
{
	if (layout && !layout__is_shared(layout))
		space->bytes -= layout__count(layout) * sizeof(struct layout_map);
	layout__put(layout);
}

static void delete_eras(struct space *space, struct era *era)
{
	struct era *before;

	for (; era; era = before) {
		before = era->before;
		put_layout(space, era->layout);
		free(era);
		space->bytes -= sizeof(*era);
	}
}

static void delete_process(struct space *space, struct process *process)
{
	delete_eras(space, process->eras);
	free(process);
	space->bytes -= sizeof(*process);
}

void space__delete(struct space *space)
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

static struct process *find_process(const struct space *space, pid_t pid)
{
	const uint64_t *value = idmap__find(&space->by_pid, (uint64_t)pid);

	return value ? (struct process *)(uintptr_t)*value : NULL;
}

static struct process *get_process(struct space *space, pid_t pid)
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
static struct era *begin_era(struct space *space, struct process *process, uint64_t since,
			     struct layout *layout)
{
	struct era *era = malloc(sizeof(*era));

	if (!era) {
		put_layout(space, layout);
		return NULL;
	}
	*era = (struct era){ .since = since, .layout = layout, .before = process->eras };
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

static bool is_full(struct space *space)
{
	if (space->bytes < SPACE_MAX_BYTES)
		return false;
	if (!space->refused)
		pr_warn("the maps of all processes take more than %llu MB: stacks through code "
			"that is mapped from now on are cut",
			SPACE_MAX_BYTES >> 20);
	space->refused++;
	return true;
}

/* A layout that the era has for itself. */
static struct layout *own_layout(struct space *space, struct era *era)
{
	struct layout *own;

	if (era->layout && !layout__is_shared(era->layout))
		return era->layout;
	own = era->layout ? layout__copy(era->layout, ++space->last_layout)
			  : layout__new(++space->last_layout);
	if (!own)
		return NULL;
	space->bytes += layout__count(own) * sizeof(struct layout_map);
	put_layout(space, era->layout);
	era->layout = own;
	return own;
}

static int add_map(struct space *space, pid_t pid, struct era *era, const struct layout_map *map)
{
	struct layout *layout = own_layout(space, era);
	size_t nr;
	int err;

	if (!layout)
		return -ENOMEM;
	nr = layout__count(layout);
	space_file__get(map->file);
	err = layout__add(layout, map);
	space->bytes += (layout__count(layout) - nr) * sizeof(*map);
	if (err != -ENOSPC)
		return err;
	if (!space->full_layouts++)
		pr_warn("pid %d has more than %d executable mappings at a time: stacks through "
			"code that it maps from now on are cut, if they are unwound",
			(int)pid, LAYOUT_MAX_MAPS);
	space->refused++;
	return 0;
}

/* What a process maps finds no room: its layout, also if others share it, lacks something. */
static void refuse(struct space *space, pid_t pid, uint64_t time)
{
	const struct process *process = find_process(space, pid);
	const struct era *era = process ? era_at(process, time) : NULL;

	if (era && era->layout)
		layout__set_incomplete(era->layout);
}

int space__map(struct space *space, pid_t pid, const struct space_map *map, uint64_t time)
{
	struct layout_map new = {
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
	new.file = process ? space__file(space, map) : NULL;
	if (!new.file)
		return -ENOMEM;
	/* Without a fork or an exec that was seen, it was there before all. */
	era = process->eras ? era_at(process, time) : begin_era(space, process, 0, NULL);
	return era ? add_map(space, pid, era, &new) : -ENOMEM;
}

int space__fork(struct space *space, pid_t pid, pid_t parent, uint64_t time)
{
	struct process *process, *from;
	struct layout *layout = NULL;
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
	if (era && era->layout)
		layout = layout__get(era->layout);
	return begin_era(space, process, time, layout) ? 0 : -ENOMEM;
}

int space__exec(struct space *space, pid_t pid, uint64_t time)
{
	struct process *process = get_process(space, pid);

	if (!process)
		return -ENOMEM;
	/* What /proc yet tells of the time before must not get into the new program. */
	if (!process->eras && !begin_era(space, process, 0, NULL))
		return -ENOMEM;
	return begin_era(space, process, time, NULL) ? 0 : -ENOMEM;
}

void space__exit(struct space *space, pid_t pid, uint64_t time)
{
	struct process *process = find_process(space, pid);

	if (process)
		process->left = time;
}

pid_t space__parent(const struct space *space, pid_t pid)
{
	const struct process *process = find_process(space, pid);

	return process ? process->parent : 0;
}

/* An era ends when the next one begins; one that had ended by then goes, with all before. */
static void forget_eras(struct space *space, struct process *process, uint64_t before)
{
	size_t nr;

	for (struct era *era = process->eras; era; era = era->before) {
		if (era->layout && !layout__is_shared(era->layout)) {
			nr = layout__count(era->layout);
			layout__forget(era->layout, before);
			space->bytes -=
				(nr - layout__count(era->layout)) * sizeof(struct layout_map);
		}
		if (era->since <= before) {
			delete_eras(space, era->before);
			era->before = NULL;
		}
	}
}

/* Forgets the files that nobody has mapped. */
static void sweep(struct space *space)
{
	struct space_file **at = &space->files, *file;

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

void space__forget(struct space *space, uint64_t before)
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

const struct layout *space__at(const struct space *space, pid_t pid, uint64_t time)
{
	const struct process *process = find_process(space, pid);
	const struct era *era = process ? era_at(process, time) : NULL;

	return era && era->layout && layout__count(era->layout) ? era->layout : NULL;
}

size_t space__keep_possible(const uint64_t *ips, size_t nr)
{
	size_t kept = 0;

	while (kept < nr && ips[kept] >= FIRST_CODE && ips[kept] < LAST_CODE)
		kept++;
	return kept;
}

size_t space__keep_frames(const struct space *space, pid_t pid, uint64_t time, const uint64_t *ips,
			  size_t nr)
{
	const struct layout *layout = space__at(space, pid, time);
	const struct layout_map *map;
	uint64_t start = 0, size = 0;
	size_t kept = 0;

	if (!layout || layout__is_incomplete(layout))
		return space__keep_possible(ips, nr);
	for (; kept < nr && ips[kept]; kept++) {
		/* A return address may be the one behind the mapping's last call. */
		uint64_t ip = ips[kept] - (kept > 0);

		/* Neighbours are in one file as a rule. */
		if (ip - start < size)
			continue;
		map = layout__find(layout, time, ip);
		if (!map)
			break;
		start = map->start;
		size = map->end - map->start;
	}
	return kept;
}

uint64_t space__refused(const struct space *space)
{
	return space->refused;
}

uint64_t space__bytes(const struct space *space)
{
	return space->bytes;
}
