/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_PERF_READER_H
#define DENET_TOP_PERF_READER_H

#include <stdbool.h>

#include "top/csv_beside.h"
#include "top/csv_reader.h"

/* Whether a file is a perf.data file, of whatever program. */
bool perf_reader__knows(const char *path);

/*
 * Reads a perf.data file that denet-top has written, with the names of functions, as rows in the
 * order of their passes. Other files are refused. Samples with a time or a weight that none has are
 * counted in *bad. The pulse, if there is one, is called while samples are read. 0, fn's or its
 * error or a negative errno (logged).
 */
int perf_reader__read(const char *path, csv_row_fn fn, void *ctx, const struct csv_pulse *pulse,
		      uint64_t *bad);

#endif /* DENET_TOP_PERF_READER_H */
