/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_READER_H
#define DENET_TOP_USER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/user_request.h"

#define USER_READER_MAX 512 /* requests at once */
#define USER_READER_TEXT 512 /* bytes of a text at most */

/*
 * Walks user stacks, and reads other memory of processes, in a child: it cannot be read while the
 * process holds its mmap_lock, which may be for ever. A process that does is left out for a while.
 */
struct user_reader;

struct user_reader_options {
	/*
	 * A warning says that threads lack this where their memory cannot be read, such as "user
	 * stacks". Borrowed.
	 */
	const char *what;
	bool tables; /* stacks go by unwind tables, not by frame pointers alone */
};

/* NULL: no memory. */
struct user_reader *user_reader__new(const struct user_reader_options *options);
void user_reader__delete(struct user_reader *reader); /* accepts NULL */

/* CPU time of the child, while there is one, and of those of its own children that have ended. */
uint64_t user_reader__cpu_ns(const struct user_reader *reader);

/*
 * The answer to a request: a struct user_stack of as many frames as size tells, a text of size
 * bytes, a struct aio_answer with as much of its path, or an owner as uint32_t. 0, or an error that
 * ends the reading.
 */
typedef int (*user_answer_fn)(void *ctx, const struct user_request *request, const void *data,
			      size_t size);

/*
 * Reads what is asked for, and calls fn for each answer: command lines, owners of locks, and what
 * belongs to a thread that has not run since. What cannot be read has none. 0, fn's error or a
 * negative errno.
 */
int user_reader__read(struct user_reader *reader, const struct user_request *requests, size_t nr,
		      user_answer_fn fn, void *ctx);

#endif /* DENET_TOP_USER_READER_H */
