/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_LOCKS_H
#define DENET_REPORT_LOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "sample.h"

/* A futex of a process that threads waited on: a lock, a condition, a semaphore. */
struct lock {
	uint32_t pid;
	uint64_t address;
	const char *process;
	const char *object; /* that the futex lies in; "" if that is not known */
	uint64_t ns, blocks;
	uint64_t longest, mean; /* as of a profile_entry */
	struct idmap waiters; /* tids */
	/* Names of threads by their pointers -> ns of the waits: */
	struct idmap owners;    /* that held it meanwhile; of mutexes only */
	struct idmap releasers; /* that ended them; of blocks that are samples of their own */
};

/* Zero-initialised is empty. */
struct locks {
	struct buffer all; /* struct lock, by descending ns once they are sorted */
	struct idmap by_place;
	struct idmap wakers; /* start of a block, ns -> name of the thread that ended it */
	struct strings strings;
};

/*
 * Adds a wake-up by a thread of that name, before the sample of the block that it ended. A sum of
 * several is ignored, since their blocks are not known. 0 or -ENOMEM.
 */
int locks__add_wakeup(struct locks *locks, const struct sample *sample, const char *waker);

/* A sample off the CPU; without a futex as its reason it adds nothing. 0 or -ENOMEM. */
int locks__add(struct locks *locks, const struct sample *sample, const char *process);

/* Sorts them by their time, the greatest first. Nothing is added after it. */
void locks__sort(struct locks *locks);

/* The number of locks, and one of them, where i is below it. Valid until one is added. */
size_t locks__nr(const struct locks *locks);
const struct lock *locks__at(const struct locks *locks, size_t i);

/* The name of the threads of most time in owners or releasers; NULL: none is known. */
const char *lock__most_of(const struct idmap *names);

/* Frees all of it, the names as well. */
void locks__free(struct locks *locks);

#endif /* DENET_REPORT_LOCKS_H */
