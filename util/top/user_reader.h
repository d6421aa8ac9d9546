/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_READER_H
#define DENET_TOP_USER_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread off the CPU, and where its user side stands. */
struct user_request {
	pid_t pid;
	pid_t tid;
	uint64_t pc;
	uint64_t fp;
	uint64_t switches; /* how often it had left its CPU when it was seen */
};

#define USER_READER_MAX 512 /* requests at once */

/*
 * Reads user stacks by their frame pointers, in a child: the memory of a process cannot be read
 * while it holds its mmap_lock, which may be for ever. A process that does is left out for a while.
 */
struct user_reader;

struct user_reader *user_reader__new(void);		/* NULL: no memory */
void user_reader__delete(struct user_reader *reader); /* accepts NULL */

/* The frames of a request, leaf first. 0, or an error that ends the reading. */
typedef int (*user_frames_fn)(void *ctx, const struct user_request *request, const uint64_t *ips,
			      uint32_t nr);

/*
 * Reads the stacks of these threads, and calls fn for each that has not run since. Those that
 * cannot be read are left out. 0, fn's error or a negative errno.
 */
int user_reader__read(struct user_reader *reader, const struct user_request *requests, size_t nr,
		      user_frames_fn fn, void *ctx);

#endif /* DENET_TOP_USER_READER_H */
