/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_STACKS_H
#define DENET_TOP_CSV_STACKS_H

#include "top/columns.h"
#include "top/csv_beside.h"

/* The stacks of a recording, which its samples have as hashes. */
struct csv_stacks;

/*
 * Reads those of a directory, or of that of a file of samples. It is no error that there are none.
 * On error NULL, with a negative errno in *err.
 */
struct csv_stacks *csv_stacks__read(const char *path, const struct csv_pulse *pulse, int *err);
void csv_stacks__delete(struct csv_stacks *stacks); /* accepts NULL */

/* Fills in the stacks of a sample by their hashes. */
void csv_stacks__put(const struct csv_stacks *stacks, const char *texts[TOP_COLUMNS]);

#endif /* DENET_TOP_CSV_STACKS_H */
