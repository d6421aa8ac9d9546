/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_LEADER_EXIT_H
#define DENET_MACHINE_LEADER_EXIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idmap.h"
#include "capture/process_threads.h"

/*
 * EXIT records of first threads, put where their process ends. Whoever follows the side band,
 * perf too, takes the end of a process's first thread for the end of the process and forgets
 * its name and its maps. But others may go on (pthread_exit() in main), or call exec, which ends
 * the first thread and gives its id to the one that called. So such an EXIT is held while other
 * threads live: it comes behind that of the last of them, or, after an exec, not at all.
 * Zero-initialised is empty.
 */
struct leader_exits {
	struct process_threads threads;
	struct idmap held; /* pid -> the EXIT record of its first thread */
};

typedef int (*leader_exits_fn)(void *ctx, const void *event, size_t size, uint64_t time);

/* A thread that lived before the side band told of it. 0 or -ENOMEM. */
int leader_exits__add(struct leader_exits *leader_exits, pid_t pid, pid_t tid);

/*
 * Follows a record of the side band and hands on what is due: fn gets none, this one, or this
 * one and the EXIT that was held. Records come in the order of their times. 0, -ENOMEM, or fn's
 * first error.
 */
int leader_exits__follow(struct leader_exits *leader_exits, const void *event, size_t size,
			 uint64_t time, leader_exits_fn fn, void *ctx);

void leader_exits__free(struct leader_exits *leader_exits);

#endif /* DENET_MACHINE_LEADER_EXIT_H */
