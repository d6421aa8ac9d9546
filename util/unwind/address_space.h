/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_ADDRESS_SPACE_H
#define DENET_UNWIND_ADDRESS_SPACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/maps.h"

/*
 * The address spaces of processes as they were at a time: which file's code lay where. Fed
 * by what the kernel and /proc tell of executable mappings; a mapping without execute
 * permission is not wanted. What ended stays until address_space__forget(), since samples come
 * later than what happened to their process. Not thread-safe.
 *
 * The kernel does not tell when something is unmapped: what a library left behind stays until
 * other code is mapped there.
 */
struct address_space;

/* A file that is mapped somewhere. Memory without a file has one, too, by its name. */
struct mapped_file {
	uint64_t id; /* no other file has or had it, in this space and its copies by fork(2) */
	char *path;
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t generation; /* of the inode number; 0: not known */
	unsigned int refs;   /* of mappings */
	struct mapped_file *next; /* of the space's */
};

void mapped_file__get(struct mapped_file *file);
void mapped_file__put(struct mapped_file *file);

/* As a record of PERF_RECORD_MMAP2 or a line of /proc/PID/maps has it. */
struct address_space_map {
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t generation; /* 0: not known */
	const char *path;    /* copied */
};

/* What a space holds at most. Once it is full, which is said, new mappings are not kept. */
#define ADDRESS_SPACE_MAX_BYTES (64ULL << 20)

/* NULL: no memory. */
struct address_space *address_space__new(void);
void address_space__delete(struct address_space *space); /* accepts NULL */

/*
 * What happens, with its time in ns: 0 for what was there before. Events of one process must
 * come in the order of their times, but for those of time 0. 0 or -ENOMEM.
 */
int address_space__map(struct address_space *space, pid_t pid, const struct address_space_map *map,
		       uint64_t time);
int address_space__fork(struct address_space *space, pid_t pid, pid_t parent, uint64_t time);
int address_space__exec(struct address_space *space, pid_t pid, uint64_t time);
void address_space__exit(struct address_space *space, pid_t pid, uint64_t time);

/* Who forked a process; 0: nothing is known of that. */
pid_t address_space__parent(const struct address_space *space, pid_t pid);

/*
 * No sample from before that time will be asked for any more: what had ended by then is
 * forgotten.
 */
void address_space__forget(struct address_space *space, uint64_t before);

/*
 * The mappings of a process at a time, for maps__find() with the same time. NULL: nothing
 * is known of it. Valid until the next change.
 */
const struct maps *address_space__at(const struct address_space *space, pid_t pid, uint64_t time);

/*
 * How many of the user frames of a walk along frame pointers are to be kept: those before the
 * first one that lies in no executable mapping of its process at that time. ips[0] is where
 * the thread was, the others are return addresses. If nothing is known of the process, or it
 * has mappings for which there was no room, those of address_space__keep_possible().
 */
size_t address_space__keep_frames(const struct address_space *space, pid_t pid, uint64_t time,
				  const uint64_t *ips, size_t nr);

/*
 * How many are to be kept where nothing is known: those before the first one where no program can
 * have code, in the first page or beyond the 56 bits that are user space's at most.
 */
size_t address_space__keep_possible(const uint64_t *ips, size_t nr);

/* Mappings that were not kept for want of room. */
uint64_t address_space__refused(const struct address_space *space);

/* Bytes that it takes, about. */
uint64_t address_space__bytes(const struct address_space *space);

#endif /* DENET_UNWIND_ADDRESS_SPACE_H */
