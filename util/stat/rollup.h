/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_ROLLUP_H
#define DENET_STAT_ROLLUP_H

#include "base/buffer.h"
#include "base/idmap.h"
#include "stat/stat_data.h"

/*
 * Adds threads up by process, by command and in all. Zero-initialised is empty. Functions that
 * add return 0 or -ENOMEM.
 */
struct rollup {
	struct buffer threads;	 /* struct stat_task */
	struct buffer processes; /* the same */
	struct buffer commands;
	struct stat_task total;
	struct idmap by_pid; /* of processes: 1 + index */
};

/* Adds a call to those of a task, or to the same call of it. */
int rollup__add_call(struct stat_task *task, const struct stat_call *call);

/* A thread that has not ended: it is listed as well. Its calls belong to the rollup then. */
int rollup__add_thread(struct rollup *rollup, const struct stat_task *thread);

/* The sum of threads that have ended, of one process (pid 0: of unknown ones) and name. */
int rollup__add_ended(struct rollup *rollup, const struct stat_task *ended);

/* Moves all into data, the greatest off-CPU times first, and is empty then. */
void rollup__finish(struct rollup *rollup, struct stat_data *data);

void rollup__free(struct rollup *rollup);

#endif /* DENET_STAT_ROLLUP_H */
