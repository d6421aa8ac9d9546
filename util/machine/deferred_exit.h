/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_DEFERRED_EXIT_H
#define DENET_MACHINE_DEFERRED_EXIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

/*
 * EXIT records, held back. The kernel sends EXIT in the midst of a task's end, which may yet
 * be preempted or wait for a lock, and short blocks come only when their window ends; perf
 * since 6.12 forgets a task's name at EXIT. So an EXIT is given out a whole window later, with
 * the time of then. One whose id is reused meanwhile is left out: at the FORK of the new task
 * every perf forgets the one before. Zero-initialised is empty.
 */
struct deferred_exit {
	struct buffer fresh; /* of the window under way: records, back to back */
	struct buffer ripe;  /* of the one before */
	struct idmap held;   /* tid -> number of its record */
	uint64_t last;	     /* number of the latest record */
};

typedef int (*deferred_exit_fn)(void *ctx, const void *event, size_t size);

/* Holds an EXIT record, checked before. 0, -EINVAL if it is too short, or -ENOMEM. */
int deferred_exit__hold(struct deferred_exit *deferred_exit, const void *event, size_t size);

/* A task of this id is born: what is held of the one before is forgotten. */
void deferred_exit__forked(struct deferred_exit *deferred_exit, uint32_t tid);

/*
 * A window has ended, and its samples are out: hands the ripe records to fn, dated time_ns.
 * 0 or fn's first error.
 */
int deferred_exit__round(struct deferred_exit *deferred_exit, uint64_t time_ns, deferred_exit_fn fn,
			 void *ctx);

void deferred_exit__free(struct deferred_exit *deferred_exit);

#endif /* DENET_MACHINE_DEFERRED_EXIT_H */
