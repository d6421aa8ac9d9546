/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_BATCH_H
#define DENET_TOP_BATCH_H

#include <stdio.h>

#include "base/text_table.h"
#include "top/activity.h"
#include "top/columns.h"
#include "top/sampler.h"

/* Columns to group by at most: five others stand beside them. */
#define BATCH_COLUMNS (TEXT_TABLE_COLUMNS - 5)

struct batch_options {
	enum top_column columns[BATCH_COLUMNS]; /* to group by */
	size_t nr_columns;
	size_t top;		 /* rows of a table at most */
	enum activity_time time; /* that percentiles are of */
	struct table_form form;
};

/* The activity of an interval as a table of plain text. */
struct batch;

struct batch *batch__new(const struct batch_options *options); /* borrowed; NULL: no memory */
void batch__delete(struct batch *batch);			/* accepts NULL */

/* A pass begins; its threads; it has ended. 0 or -ENOMEM. */
int batch__begin(struct batch *batch, const struct top_pass *pass);
int batch__add(struct batch *batch, const struct thread_sample *sample, struct top_names *names);
/* The same by the texts of all columns. */
int batch__add_texts(struct batch *batch, const char *const texts[TOP_COLUMNS],
		     const struct activity_times *times);
void batch__end(struct batch *batch, const struct top_pass *pass);

/* Time up to then, of looks that met no thread: nobody knows how many. 0 or -ENOMEM. */
int batch__fill(struct batch *batch, uint64_t time, uint64_t ns);

/*
 * Prints what came since the last time, and forgets it. own_ppm: what that has cost, in millionths
 * of a CPU; 0: not known. 0 or a negative errno.
 */
int batch__print(struct batch *batch, uint32_t own_ppm, FILE *out);

#endif /* DENET_TOP_BATCH_H */
