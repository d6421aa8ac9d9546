/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_RECORDED_H
#define DENET_TOP_RECORDED_H

#include "top/csv_reader.h"

/*
 * Reads what denet-top or xcapture recorded: a file or a directory of CSV, or a perf.data file.
 * Lines of CSV that are none are counted in *bad. 0, fn's error or a negative errno (logged).
 */
int recorded__read(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad);

#endif /* DENET_TOP_RECORDED_H */
