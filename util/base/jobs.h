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

/*
 * The same beside other work. A job gets patience_ms without an answer, and more while its child
 * has a CPU, up to 16 times that, or lacks one; there is no deadline for all of them. jobs is
 * copied, its ctx borrowed. NULL: out of memory.
 */
struct jobs_task;
struct jobs_task *jobs__begin(const struct jobs *jobs, int patience_ms);

/*
 * Takes what has come, and waits for more until until_ns (clock__now_ns()). 1: there is more to be
 * done; call it again when jobs__fd() is readable, and after patience_ms at the latest. 0: done was
 * called for each job. A negative errno: as of jobs__run().
 */
int jobs__advance(struct jobs_task *task, uint64_t until_ns);

/* Borrowed, and another one after a job that hung; -1: there is none. */
int jobs__fd(const struct jobs_task *task);

/* Accepts NULL. What is not done is given up. */
void jobs__end(struct jobs_task *task);

#endif /* DENET_JOBS_H */
