/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_RECORDED_H
#define DENET_TOP_RECORDED_H

#include "top/csv_beside.h"
#include "top/csv_reader.h"

/* Files of a recording in CSV that are read besides its samples, as bits. */
enum recorded_beside {
	RECORDED_STACKS = 1, /* their texts */
	RECORDED_ENDS = 2,   /* the times of calls and requests that have ended */
	RECORDED_CGROUPS = 4, /* the paths of cgroups, which samples of xcapture have as ids */
	RECORDED_ALL = RECORDED_STACKS | RECORDED_ENDS | RECORDED_CGROUPS,
};

/* The files that these columns, and percentiles of this time, need. */
uint32_t recorded__beside(const enum top_column *columns, size_t nr, enum activity_time time);

/*
 * Reads what denet-top or xcapture recorded: a file or a directory of CSV, or a perf.data file.
 * Lines of CSV that are none, and samples that cannot be, are counted in *bad. The pulse is called
 * now and then before the first row; NULL: none. 0, fn's or the pulse's error (not logged) or a
 * negative errno (logged).
 */
int recorded__read(const char *path, uint32_t beside, csv_row_fn fn, void *ctx,
		   const struct csv_pulse *pulse, uint64_t *bad);

#endif /* DENET_TOP_RECORDED_H */
