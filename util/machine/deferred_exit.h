/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_DEFERRED_EXIT_H
#define DENET_MACHINE_DEFERRED_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "machine/task_event.h"

/*
 * EXIT records, held back, for two reasons. Zero-initialised is empty.
 *
 * The kernel sends EXIT in the midst of a task's end, which may yet be preempted or wait for a
 * lock, and short blocks come only when their window ends; perf since 6.12 forgets a task's name at
 * EXIT. So an EXIT is delivered a whole window later, with the time of its delivery. If the id is
 * reused meanwhile, the record is dropped: at the FORK of the new task every perf forgets the old
 * one.
 *
 * And perf takes the end of a process's first thread for the end of the process. But others may go
 * on (pthread_exit() in main), or call exec, which ends the first thread and gives its id to the
 * calling thread. So that EXIT waits for the end of the last thread, or, after an exec, is dropped.
 */
struct deferred_exit {
	struct buffer fresh; /* of the current window: records, back to back */
	struct buffer ripe;  /* of the previous window */
	struct idmap held;   /* tid -> number of its record */
	struct idmap leaders; /* pid -> the record of its first thread, while others live */
	uint64_t last;	     /* number of the latest record */
};

typedef int (*deferred_exit_fn)(void *ctx, const void *record, size_t size);

/*
 * Follows an event of the kernel. An EXIT's record is copied; alive: the process has threads left.
 * 0, -EINVAL if the record has another size, or -ENOMEM.
 */
int deferred_exit__follow(struct deferred_exit *deferred_exit, const struct task_event *event,
			  bool alive);

/*
 * At the end of a window whose samples are delivered: passes the records of the previous one to fn,
 * with time_ns as their time. 0 or fn's first error.
 */
int deferred_exit__round(struct deferred_exit *deferred_exit, uint64_t time_ns, deferred_exit_fn fn,
			 void *ctx);

void deferred_exit__free(struct deferred_exit *deferred_exit);

#endif /* DENET_MACHINE_DEFERRED_EXIT_H */
