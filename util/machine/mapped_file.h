/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_MAPPED_FILE_H
#define DENET_MACHINE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_map; /* machine/task_event.h */

/* A file that is mapped somewhere. Memory without a file has one, too, by its name. */
struct mapped_file {
	uint64_t id; /* a hash of the rest: the same in each copy of a machine by fork(2) */
	char *path;
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t generation; /* of the inode number; 0: not known */
	bool program;	     /* some process mapped it first, as the program that it runs */
	unsigned int refs;
	struct mapped_file *next; /* of the table's */
};

/* All mapped files. Zero-initialised is empty. */
struct mapped_files {
	void *tree; /* tsearch(3)'s */
	struct mapped_file *list;
	size_t nr;
	size_t sweep_at;
	uint64_t bytes;
};

/* The file of a mapping, with a reference for the caller; NULL: no memory. */
struct mapped_file *mapped_files__get(struct mapped_files *files, const struct task_map *map);

/* Another reference. Returns file. */
struct mapped_file *mapped_file__get(struct mapped_file *file);

/*
 * Drops a reference. A file without one stays until mapped_files__sweep(): it may be mapped again
 * soon.
 */
void mapped_file__put(struct mapped_file *file);

/* Frees the files that have no reference, if there are many since the last time. */
void mapped_files__sweep(struct mapped_files *files);

void mapped_files__free(struct mapped_files *files);

#endif /* DENET_MACHINE_MAPPED_FILE_H */
