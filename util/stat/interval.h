/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_INTERVAL_H
#define DENET_STAT_INTERVAL_H

#include "stat/stat_data.h"

/*
 * Fills in, which is empty before, with what came to all between two readings of one measurement.
 * The shortest and the longest value are those of the lengths' powers of two, within the bounds of
 * the whole measurement. Objects and calls without a change are left out. Calls that are open keep
 * the time since their entry, of which earlier_calls has what is not of the interval. 0 or -ENOMEM.
 */
int stat_interval__between(const struct stat_data *before, const struct stat_data *now,
			   struct stat_data *interval);

#endif /* DENET_STAT_INTERVAL_H */
