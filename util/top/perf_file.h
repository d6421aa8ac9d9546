/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_PERF_FILE_H
#define DENET_TOP_PERF_FILE_H

#include "machine/task_event.h"
#include "top/names.h"
#include "top/sampler.h"

struct perf_file_options {
	const char *path; /* NULL: none */
	int argc;	  /* of the command line; borrowed */
	const char *const *argv;
};

/*
 * Samples as a perf.data file of one event, thread-state, whose period is the time that a sample
 * stands for: a thread's periods add up to the time that it spent so.
 */
struct perf_file;

/* names has the kernel's symbols. On error NULL, with a negative errno in *err (logged). */
struct perf_file *perf_file__open(const struct perf_file_options *options,
				  const struct top_names *names, int *err);

/*
 * A pass begins. All of it has its time in the file, by which readers know what one look met.
 */
void perf_file__begin(struct perf_file *file, const struct top_pass *pass);

/* A mapping of a process, before the first sample that has a frame there. 0 or a negative errno. */
int perf_file__map(void *ctx, const struct task_event *event);

/* A thread of a pass. 0 or a negative errno. */
int perf_file__add(struct perf_file *file, const struct top_pass *pass,
		   const struct thread_sample *sample);

/* Writes all that is there, once a pass has ended. 0 or a negative errno. */
int perf_file__flush(struct perf_file *file);

/* Completes the file. Accepts NULL. 0 or a negative errno (logged). */
int perf_file__close(struct perf_file *file);

#endif /* DENET_TOP_PERF_FILE_H */
