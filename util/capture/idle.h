/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_IDLE_H
#define DENET_CAPTURE_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "sample.h"

/*
 * Waits for work: a table of system calls, each with or without the kernel function that the thread
 * must wait in. Pure: it works on names only.
 */
struct idle_table {
	struct buffer rules; /* struct idle_rule */
};

#define IDLE_NAME_LEN 64

struct idle_rule {
	char call[IDLE_NAME_LEN]; /* or futex_condvar */
	char leaf[IDLE_NAME_LEN]; /* "": any function but a lock of the kernel */
	uint64_t min_ns;	  /* shorter blocks don't match; of a sum, its mean counts */
	bool given;		  /* by the user: matches whichever thread ends the wait */
};

/*
 * The name in a table for a futex wait as pthread_cond_wait() makes it: of type WAIT_BITSET,
 * private, with CLOCK_REALTIME. sem_wait() and pthread_rwlock_*() make the same when they wait
 * without a timeout; pthread_mutex_lock() does not.
 */
#define IDLE_CONDVAR "futex_condvar"

/* A call that stands for kernel threads. Without a function: those in state I (idle). */
#define IDLE_KTHREAD "kthread"

/* The rules of the built-in table, which the man page prints; *nr receives their number. */
const struct idle_rule *idle_table__built_in(size_t *nr);

/* The built-in table. 0 or -ENOMEM. */
int idle_table__init(struct idle_table *table);

/*
 * Adds the rules of a text: lines of `CALL [FUNCTION]`; `-CALL` removes all rules of a call; #
 * begins a comment. is_call checks names of system calls. Returns 0, -ENOMEM, or -EINVAL with the
 * number of the bad line in *line and the reason in *why.
 */
int idle_table__parse(struct idle_table *table, const char *text, size_t len,
		      bool (*is_call)(const char *name), size_t *line, const char **why);

/* Reads a file into the table. 0 or a negative errno (logged, with the line). */
int idle_table__read(struct idle_table *table, const char *path);

/*
 * The call of the rule by which a sample waits for work: asleep in that call, not in a page fault,
 * at the rule's function, and, but for the user's rules, not ended by a thread of its process. leaf
 * NULL: not known, then only rules without a function count. NULL: no rule matches. Lives as long
 * as the table.
 */
const char *idle_table__match(const struct idle_table *table, const struct sample *sample,
			      const struct reason *reason, const char *leaf);

/* True if a rule has this system call, or this function. */
bool idle_table__names_call(const struct idle_table *table, const char *call);
/*
 * True if the call is a wait for work whichever function the thread sleeps in; given: by a user's
 * rule.
 */
bool idle_table__has_whole_call(const struct idle_table *table, const char *call, bool given);
bool idle_table__names_leaf(const struct idle_table *table, const char *leaf);

/* True if the function waits for a lock of the kernel. NULL: false. */
bool idle__is_lock(const char *function);

void idle_table__free(struct idle_table *table);

#endif /* DENET_CAPTURE_IDLE_H */
