/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/mapped_file.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "machine/task_event.h"

/* Up to this number, unused files are kept: compilers are mapped again and again. */
#define SWEEP_MIN 1024

static int mapped_file__compare(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
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

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value ^ value >> 32) * 0x100000001b3ULL;
}

/* FNV-1a; neither 0 nor all ones, which have a meaning elsewhere. */
static uint64_t make_id(const struct mapped_file *file)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (const char *c = file->path; *c; c++)
		hash = mix(hash, (unsigned char)*c);
	hash = mix(mix(hash, file->ino), file->generation);
	hash = mix(hash, (uint64_t)file->maj << 32 | file->min);
	return hash && hash != UINT64_MAX ? hash : 1;
}

static uint64_t mapped_file__bytes(const struct mapped_file *file)
{
	return sizeof(*file) + strlen(file->path) + 1;
}

static void mapped_file__delete(struct mapped_file *file)
{
	free(file->path);
	free(file);
}

static struct mapped_file *add(struct mapped_files *files, const struct mapped_file *key)
{
	struct mapped_file *file = malloc(sizeof(*file));

	if (!file)
		return NULL;
	*file = *key;
	file->path = strdup(key->path);
	if (!file->path || !tsearch(file, &files->tree, mapped_file__compare)) {
		mapped_file__delete(file);
		return NULL;
	}
	file->next = files->list;
	files->list = file;
	files->nr++;
	files->bytes += mapped_file__bytes(file);
	return file;
}

struct mapped_file *mapped_files__get(struct mapped_files *files, const struct task_map *map)
{
	struct mapped_file key = { .path = (char *)(uintptr_t)map->path,
			   .maj = map->maj,
			   .min = map->min,
			   .ino = map->ino,
			   .generation = map->generation };
	struct mapped_file **node, *file;

	key.id = make_id(&key);
	node = tfind(&key, &files->tree, mapped_file__compare);
	file = node ? *node : add(files, &key);
	return file ? mapped_file__get(file) : NULL;
}

struct mapped_file *mapped_file__get(struct mapped_file *file)
{
	file->refs++;
	return file;
}

void mapped_file__put(struct mapped_file *file)
{
	file->refs--;
}

void mapped_files__sweep(struct mapped_files *files)
{
	struct mapped_file **at = &files->list, *file;

	if (files->nr < SWEEP_MIN || files->nr < files->sweep_at)
		return;
	while ((file = *at)) {
		if (file->refs) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		tdelete(file, &files->tree, mapped_file__compare);
		files->bytes -= mapped_file__bytes(file);
		files->nr--;
		mapped_file__delete(file);
	}
	files->sweep_at = 2 * files->nr;
}

static void keep(void *node)
{
	(void)node; /* the list owns it */
}

void mapped_files__free(struct mapped_files *files)
{
	struct mapped_file *file;

	tdestroy(files->tree, keep);
	while ((file = files->list)) {
		files->list = file->next;
		mapped_file__delete(file);
	}
	*files = (struct mapped_files){ 0 };
}
