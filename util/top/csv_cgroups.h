/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_CGROUPS_H
#define DENET_TOP_CSV_CGROUPS_H

#include "top/columns.h"
#include "top/csv_beside.h"

/* The paths of cgroups of a recording, which samples of xcapture have as ids alone. */
struct csv_cgroups;

/*
 * Reads those of a directory, or of that of a file of samples. It is no error that there are none.
 * On error NULL, with a negative errno in *err.
 */
struct csv_cgroups *csv_cgroups__read(const char *path, const struct csv_pulse *pulse,
				      int *err);
void csv_cgroups__delete(struct csv_cgroups *cgroups); /* accepts NULL */

/* Fills in the path and the container of a sample by its id, where it has none. */
void csv_cgroups__put(const struct csv_cgroups *cgroups, const char *texts[TOP_COLUMNS]);

#endif /* DENET_TOP_CSV_CGROUPS_H */
