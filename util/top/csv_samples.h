/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_SAMPLES_H
#define DENET_TOP_CSV_SAMPLES_H

#include "top/columns.h"
#include "top/completion.h"
#include "top/csv_archive.h"
#include "top/sampler.h"

struct csv_samples_options {
	const char *path; /* the directory; NULL: none */
	bool kernel_stacks; /* there is a file for them, */
	bool user_stacks;   /* and for these */
	struct csv_archive_options archive;
};

/* Writes samples into a directory, as xcapture does. */
struct csv_samples;

/* On error NULL, with a negative errno in *err (logged). */
struct csv_samples *csv_samples__open(const struct csv_samples_options *options, int *err);

/* A pass begins; its threads; it has ended. 0 or a negative errno (logged). */
int csv_samples__begin(struct csv_samples *csv, const struct top_pass *pass);
int csv_samples__add(struct csv_samples *csv, const struct top_pass *pass,
		     const struct thread_sample *sample, struct top_names *names);
int csv_samples__end(struct csv_samples *csv, const struct top_pass *pass);

/*
 * A call or a request has ended; lead as in wall_time.h. Before the first pass there is no file for
 * it.
 */
int csv_samples__complete(struct csv_samples *csv, const struct completion *completion,
			  uint64_t lead);

/* Writes all that is there. 0 or a negative errno (logged). */
int csv_samples__flush(struct csv_samples *csv);

/* Writes the rest. Accepts NULL. 0 or a negative errno (logged). */
int csv_samples__close(struct csv_samples *csv);

#endif /* DENET_TOP_CSV_SAMPLES_H */
