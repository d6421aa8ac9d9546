/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_JOBS_H
#define DENET_JOBS_H

#include <stddef.h>

#include "base/child.h"

/*
 * A list of jobs of which any may hang: they run one after another in a child. A job that does not
 * answer fails, its child is killed, and a new child goes on with the next job.
 */
struct jobs {
	size_t nr;
	void *ctx;
	/* In each child, before its first job; NULL: nothing to do. 0 or a negative errno. */
	int (*enter)(void *ctx);
	/*
	 * In the child: does job index and puts its answers; returns 0 or a negative errno other
	 * than -EAGAIN and -ECANCELED.
	 */
	int (*run)(void *ctx, size_t index, struct child_out *out);
	/* In the parent, for each answer. Returns 0 or a negative errno, which ends all. */
	int (*answer)(void *ctx, size_t index, const struct child_message *message);
	/*
	 * In the parent, once for each job: run's result, -ETIMEDOUT if it did not answer in time,
	 * -ECHILD if its child died of it; for a job that was not begun, -ECANCELED where the
	 * deadline was reached, -EAGAIN where no process could be made.
	 */
	void (*done)(void *ctx, size_t index, int status);
};

/*
 * Runs the jobs within deadline_ms in all. A single job gets a sixteenth of the time that is left,
 * at least 5 ms, so that the rest has time even if many hang. Making a process is tried again for a
 * quarter of the time. 0 or a negative errno: the answer callback's, or our own; then done was not
 * called for every job.
 */
int jobs__run(const struct jobs *jobs, int deadline_ms);

#endif /* DENET_JOBS_H */
