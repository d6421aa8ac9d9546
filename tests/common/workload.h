/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_WORKLOAD_H
#define DENET_TESTS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "common/truth.h"

/*
 * A child that runs a workload of tests/workloads, and its latest output. It is killed when the
 * test dies.
 */
struct workload {
	pid_t pid;
	bool reaped;
	int in;	    /* writes to its stdin */
	int out;    /* reads its stdout; does not block */
	bool ended; /* its stdout is at the end */
	struct buffer text;
	struct truth *truths;
	size_t nr_truths;
	char said[TRUTH_NAME_MAX]; /* the latest line that is no truth: "READY" */
};

/* Starts argv[0] of the directory of workloads; argv ends with NULL. 0 or -errno. */
int workload__start(struct workload *workload, const char *const *argv);

/* Waits, some seconds at most, until it says word on a line. 0, -ETIMEDOUT or -EPIPE. */
int workload__await(struct workload *workload, const char *word);

/* Lets a workload that was started with --wait go on. 0 or -errno. */
int workload__go(struct workload *workload);

/* Reads its output so far, without waiting. 0, 1 at the end, or -errno. */
int workload__read(struct workload *workload);

/* Waits for its end, half a minute at most, in guests longer. Its exit status, or -errno. */
int workload__finish(struct workload *workload);

/* All of it: starts one that takes --wait, frees what was there before, and waits for its end. */
int workload__run(struct workload *workload, const char *const *argv);

/* The truth of the first thread called comm, NULL: none. Borrowed. */
const struct truth *workload__truth(const struct workload *workload, const char *comm);

/* The tid of its first thread called comm, while it runs; 0: none. */
pid_t workload__thread(const struct workload *workload, const char *comm);

/* Kills it if it is still there, and frees. A zeroed struct is accepted. */
void workload__free(struct workload *workload);

#endif /* DENET_TESTS_WORKLOAD_H */
