/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_ENDS_H
#define DENET_TOP_CSV_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "top/columns.h"
#include "top/csv_beside.h"

/* How long the calls and requests took that a recording saw to end. */
struct csv_ends;

/*
 * Reads those of a directory, or of that of a file of samples. It is no error that there are none.
 * On error NULL, with a negative errno in *err.
 */
struct csv_ends *csv_ends__read(const char *path, const struct csv_pulse *pulse, int *err);
void csv_ends__delete(struct csv_ends *ends); /* accepts NULL */

/* Whether there were more than are kept. */
bool csv_ends__is_full(const struct csv_ends *ends);

/*
 * Fills in how long the call and the request of a sample took, by its thread, their numbers and its
 * time, in ns since the epoch: ids and numbers are used again.
 */
void csv_ends__put(const struct csv_ends *ends, uint64_t wall_ns,
		   const char *const texts[TOP_COLUMNS], struct activity_times *times);

#endif /* DENET_TOP_CSV_ENDS_H */
