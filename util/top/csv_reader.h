/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_READER_H
#define DENET_TOP_CSV_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "top/columns.h"

/*
 * The longest time that a sample may stand for. The slowest rate is a look a minute, and a look
 * stands for some periods: more than a day is an error in the file.
 */
#define CSV_ROW_MOST_NS (24 * 3600 * NSEC_PER_SEC)

/* A sample as a recording has it. Valid during the call. */
struct csv_row {
	uint64_t wall_ns; /* ns since the epoch, at most WALL_TIME_MOST_NS */
	uint64_t weight_ns; /* at most CSV_ROW_MOST_NS */
	struct activity_times times;
	bool idle; /* the thread waits for work; CSV does not tell */
	const char *texts[TOP_COLUMNS]; /* "" where the file has no such column */
};

/* 0, or an error that ends the reading. */
typedef int (*csv_row_fn)(void *ctx, const struct csv_row *row);

/* Passes on a row with the columns that are made from others. fn's result. */
int csv_row__give(struct csv_row *row, csv_row_fn fn, void *ctx);

/*
 * Reads a file of samples, or those of a directory in their order: ours and xcapture's, compressed
 * or not, also while they are written. Lines that are none are counted in *bad. In a directory,
 * files that cannot be read, or not to their end, are warnings, as long as there is another one. 0,
 * fn's error (not logged) or a negative errno (logged).
 */
int csv_reader__read(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad);

#endif /* DENET_TOP_CSV_READER_H */
