/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_IDLE_H
#define DENET_CAPTURE_IDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "sample.h"

/*
 * Which waits are waits for work: a table of system calls, each with or without the kernel
 * function in which the thread has to wait. Pure: it knows names only.
 */
struct idle_table {
	struct buffer rules; /* struct idle_rule */
};

#define IDLE_NAME_LEN 64

struct idle_rule {
	char call[IDLE_NAME_LEN]; /* or futex_condvar */
	char leaf[IDLE_NAME_LEN]; /* "": any but a lock of the kernel */
};

/*
 * The name by which a table calls a futex wait as pthread_cond_wait() makes it: of type
 * WAIT_BITSET, private, with CLOCK_REALTIME. So do sem_wait() and pthread_rwlock_*() when
 * they wait without a time; pthread_mutex_lock() does not.
 */
#define IDLE_CONDVAR "futex_condvar"

/* The built-in table. 0 or -ENOMEM. */
int idle_table__init(struct idle_table *table);

/*
 * Adds the rules of a text: lines of `CALL [FUNCTION]`; `-CALL` takes all rules of a call
 * out; # begins a comment. is_call tells what is a system call. Returns 0, -ENOMEM, or
 * -EINVAL with the number of the bad line in *line and the reason in *why.
 */
int idle_table__parse(struct idle_table *table, const char *text, size_t len,
		      bool (*is_call)(const char *name), size_t *line, const char **why);

/* Reads a file into the table. 0 or a negative errno (logged, with the line). */
int idle_table__read(struct idle_table *table, const char *path);

/*
 * Whether a sample waits for work: asleep in a call of the table, not in a page fault, and
 * at its function. leaf NULL: not known, then only rules without a function count.
 */
bool idle_table__matches(const struct idle_table *table, const struct sample *sample,
			 const struct reason *reason, const char *leaf);

void idle_table__free(struct idle_table *table);

#endif /* DENET_CAPTURE_IDLE_H */
