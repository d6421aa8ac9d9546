/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_ACTIVITY_H
#define DENET_TOP_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/strings.h"

/*
 * The model behind all views of denet-top: a window of samples, which are grouped by columns. It
 * knows neither where samples come from nor how they are shown: a sample is a text for each column
 * and how long its thread has been in its state, and the like. Columns are numbers from 0 on, whose
 * meaning is the caller's. Times are ns of one clock.
 *
 * Samples belong to passes: looks at all threads, each of which stands for the time since the one
 * before. A thread that is met in each pass of a second counts as one active thread in that second.
 */
struct activity;

/* Times that percentiles may be of. */
enum activity_time {
	ACTIVITY_TIME_STATE,   /* how long a thread had been in its state, */
	ACTIVITY_TIME_CALL,    /* in its system call, */
	ACTIVITY_TIME_REQUEST, /* and its request to a block device in flight */
	ACTIVITY_TIMES,
};

struct activity_times {
	uint64_t ns[ACTIVITY_TIMES]; /* 0: not known */
};

/* "state" ... */
const char *activity_time__name(enum activity_time time);

/* The prefix of the headings P50 and P99: "" for times in state, "CALL " for those in call ... */
const char *activity_time__prefix(enum activity_time time);

#define ACTIVITY_COLUMNS 64 /* of a sample at most */
#define ACTIVITY_GROUP 16   /* columns to group by at most */

struct activity_options {
	size_t nr_columns;    /* at most ACTIVITY_COLUMNS */
	uint64_t window_ns;   /* what is older than this before the latest pass is forgotten; */
	uint64_t max_samples; /* and earlier, if there are more than these; 0: no limit */
	uint64_t max_bytes;   /* or if they take more memory than this, roughly; the same */
};

struct activity *activity__new(const struct activity_options *options); /* NULL: no memory */
void activity__delete(struct activity *activity);			 /* accepts NULL */

/*
 * Begins a pass at a time that stands for weight_ns. Times rise, but for those of a clock that was
 * set back: such a pass is kept as long as those that came before it. 0 or -ENOMEM.
 */
int activity__begin_pass(struct activity *activity, uint64_t time, uint64_t weight_ns);

/* Adds a thread to the pass: nr_columns texts, and its times. 0 or -ENOMEM. */
int activity__add(struct activity *activity, const char *const *texts,
		  const struct activity_times *times);

/* Forgets all samples. */
void activity__clear(struct activity *activity);

/* The times of the oldest and the latest pass that are kept. False: there is none. */
bool activity__span(const struct activity *activity, uint64_t *oldest, uint64_t *latest);

/* Keeps samples whose text in a column is that one, or with out all others. */
struct activity_filter {
	size_t column;
	const char *text;
	bool out;
};

/* What a view shows. All is borrowed. */
struct activity_query {
	uint64_t from; /* passes of from and later, */
	uint64_t until; /* and before until */
	const size_t *columns; /* to group by, nr_columns of them, at most ACTIVITY_GROUP */
	size_t nr_columns;
	const struct activity_filter *filters; /* samples must pass all of these */
	size_t nr_filters;
	enum activity_time time; /* that percentiles and bands are of */
};

/* The samples that have the same texts in the columns of the query. */
struct activity_row {
	const char *texts[ACTIVITY_GROUP]; /* in the order of the query's columns */
	uint64_t samples;
	uint64_t weight_ns; /* thread time that they stand for; here and below UINT64_MAX at most */
	double average;	    /* of the threads that were so at one time */
	double share;	    /* of the thread time of all rows, 0 to 1 */
	/*
	 * Of the times that the query names, such as those in state. Half of all samples met a
	 * thread that had been so for p50_ns or longer: as always in sampling, long waits are met
	 * more often.
	 */
	uint64_t p50_ns; /* 0: no sample has the time */
	uint64_t p99_ns;
};

/* Rows by falling weight, those of one weight by their texts. Zero-initialised is empty. */
struct activity_view {
	struct buffer rows; /* struct activity_row */
	struct strings strings;
	uint64_t passes;
	uint64_t samples;   /* that pass the filters */
	uint64_t weight_ns; /* thread time that they stand for */
	uint64_t covered_ns; /* time that the passes stand for */
	double average;	     /* threads at one time, of all rows */
};

/* Fills a view, which is emptied first; valid on its own. 0 or -ENOMEM. */
int activity__group(const struct activity *activity, const struct activity_query *query,
		    struct activity_view *view);
const struct activity_row *activity_view__rows(const struct activity_view *view, size_t *nr);
void activity_view__free(struct activity_view *view);

#define ACTIVITY_KINDS 12
#define ACTIVITY_KIND_LEN 16
#define ACTIVITY_BANDS 8

/* A band of times: 0 is below 10 us, each other one ten times as high, the last from 10 s on. */
size_t activity__band(uint64_t ns);

/* What passes of a part of the time stand for. */
struct activity_step {
	uint64_t covered_ns;		    /* of that time; 0: nobody looked */
	uint64_t weight_ns[ACTIVITY_KINDS]; /* thread time */
	/* The same by the times that the query names, where they are known. */
	uint64_t band_ns[ACTIVITY_BANDS];
};

/* Steps of time, and in each the threads by the texts of a column. */
struct activity_steps {
	uint64_t from;
	uint64_t step_ns;
	size_t nr;
	struct activity_step *steps; /* nr of them; the caller's */
	char kinds[ACTIVITY_KINDS][ACTIVITY_KIND_LEN]; /* the texts, the last one with all others */
	size_t nr_kinds;
};

/* Fills all but the first four fields with samples that pass the query's filters. 0 or -ENOMEM. */
int activity__steps(const struct activity *activity, const struct activity_query *query,
		    size_t column, struct activity_steps *steps);

#endif /* DENET_TOP_ACTIVITY_H */
