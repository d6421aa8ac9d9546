/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_ENDS_H
#define DENET_TOP_CSV_ENDS_H

#include "top/columns.h"

/* How long the calls and requests took that a recording saw to end. */
struct csv_ends;

/*
 * Reads those of a directory, or of that of a file of samples. It is no error that there are none.
 * On error NULL, with a negative errno in *err.
 */
struct csv_ends *csv_ends__read(const char *path, int *err);
void csv_ends__delete(struct csv_ends *ends); /* accepts NULL */

/* Fills in how long the call and the request of a sample took, by their numbers. */
void csv_ends__put(const struct csv_ends *ends, const char *texts[TOP_COLUMNS]);

#endif /* DENET_TOP_CSV_ENDS_H */
