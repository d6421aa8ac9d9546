/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/dsos.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/* Processes through which a file is tried to be opened: one may have ended, the next not. */
#define MAX_TRIES 32
/* Generations back, to somebody who is still there. */
#define MAX_ANCESTORS 8

struct image_entry {
	struct image *image; /* NULL: to be avoided */
	pid_t tried;	     /* the process through which it was opened last */
	unsigned int tries;
	bool avoid;
};

static struct image_entry *entry_of(struct images *images, uint64_t id)
{
	uint64_t *value = idmap__get(&images->by_file, id);
	struct image_entry *entry;

	if (!value)
		return NULL;
	if (*value)
		return (struct image_entry *)(uintptr_t)*value;
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		idmap__remove(&images->by_file, id);
		return NULL;
	}
	*value = (uint64_t)(uintptr_t)entry;
	return entry;
}

static bool is_worth_a_try(const struct image_entry *entry, pid_t pid)
{
	const struct image *image = entry->image;

	if (entry->avoid)
		return !image;
	if (!image)
		return true;
	return image->err && image->err != -ENOEXEC && entry->tried != pid &&
	       entry->tries < MAX_TRIES;
}

static struct image *avoided(void)
{
	struct image *image = calloc(1, sizeof(*image));

	if (image)
		image->err = -EIO;
	return image;
}

static struct image *open_image(struct images *images, pid_t pid, const struct layout_map *map)
{
	struct image *image;

	if (images->opening)
		*images->opening = map->file->id;
	image = image__open(pid, map);
	if (images->opening)
		*images->opening = 0;
	return image;
}

static const struct image *get_image(struct images *images, pid_t pid,
				     const struct layout_map *map)
{
	struct image_entry *entry = entry_of(images, map->file->id);
	struct image *image;

	if (!entry)
		return NULL;
	if (!is_worth_a_try(entry, pid))
		return entry->image;
	image = entry->avoid ? avoided() : open_image(images, pid, map);
	if (!image)
		return NULL;
	if (!entry->image) {
		images->nr++;
		entry->image = image;
	} else {
		/* It has no elf, but somebody may have kept its address. */
		*entry->image = *image;
		free(image);
	}
	if (!entry->image->err)
		images->opened++;
	else if (!entry->tries)
		images->refused++;
	entry->tried = pid;
	entry->tries++;
	return entry->image;
}

static bool has_ended(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* The nearest one of those that a process descends from that is still there; 0: none is known. */
static pid_t living_ancestor(const struct space *space, pid_t pid)
{
	for (int i = 0; i < MAX_ANCESTORS && pid; i++) {
		pid = space__parent(space, pid);
		if (pid && !has_ended(pid))
			return pid;
	}
	return 0;
}

/*
 * Who has ended took its view of the file systems along; in a container there is as a rule
 * somebody left who started it and has the same.
 */
const struct image *images__get(struct images *images, const struct space *space, pid_t pid,
				const struct layout_map *map)
{
	const struct image *image = get_image(images, pid, map);

	if (!image || !image->err || image->err == -ENOEXEC || !has_ended(pid))
		return image;
	pid = living_ancestor(space, pid);
	return pid ? get_image(images, pid, map) : image;
}

int images__avoid(struct images *images, uint64_t file_id)
{
	struct image_entry *entry = entry_of(images, file_id);

	if (!entry)
		return -ENOMEM;
	entry->avoid = true;
	return 0;
}

static void clear(struct images *images, bool all)
{
	struct idmap old = images->by_file;

	images->by_file = (struct idmap){ 0 };
	images->nr = 0;
	for (size_t i = 0; i < old.capacity; i++) {
		struct image_entry *entry = (struct image_entry *)(uintptr_t)old.slots[i].value;
		uint64_t *value;

		if (old.slots[i].id == IDMAP_NONE)
			continue;
		image__delete(entry->image);
		entry->image = NULL;
		value = entry->avoid && !all ? idmap__get(&images->by_file, old.slots[i].id) : NULL;
		if (value)
			*value = (uint64_t)(uintptr_t)entry;
		else
			free(entry);
	}
	idmap__free(&old);
}

void images__clear(struct images *images)
{
	clear(images, false);
}

void images__free(struct images *images)
{
	clear(images, true);
}
