/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_TABLE_H
#define DENET_STAT_TABLE_H

#include <stdio.h>

#include "stat/base_metrics.h"
#include "stat/stat_data.h"
#include "stat/stat_rows.h"

/* What the processes use, at the start of the interval and at its end. */
struct base_interval {
	struct base_metrics before, now;
};

/*
 * Prints the figures for people: what the processes use, how threads spent their time, in all, by
 * process, by command and by thread, then each part that was asked for; of each at most form->top
 * rows, the greatest first. 0, -ENOMEM, or a negative errno of writing.
 */
int stat_table__print(const struct stat_data *data, const struct base_interval *base,
		      const struct stat_form *form, FILE *out);

#endif /* DENET_STAT_TABLE_H */
