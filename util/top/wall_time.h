/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_WALL_TIME_H
#define DENET_TOP_WALL_TIME_H

#include <stdint.h>

#define WALL_TIME_LEN 40

/* In the year 2262: what is added to such a time stays a number. */
#define WALL_TIME_MOST_NS ((uint64_t)INT64_MAX)

/*
 * What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, in ns: as in *lead, which is 0 at first, unless
 * the time was set since. What is told twice is told alike.
 */
uint64_t wall_time__steady_lead(uint64_t *lead);

/* "2026-01-31T23:59:59.000001", the local time of so many ns since the epoch. Returns buf. */
char *wall_time__put(uint64_t ns, char buf[WALL_TIME_LEN]);

/*
 * The same way back. A local time that comes twice, when clocks are put back in autumn, is taken
 * for the first time if that is after last, or at most half an hour before it, and else for the
 * second. 0, or -EINVAL, also for times before the epoch and after WALL_TIME_MOST_NS.
 */
int wall_time__parse(const char *text, uint64_t last, uint64_t *ns);

#endif /* DENET_TOP_WALL_TIME_H */
