/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_WALL_TIME_H
#define DENET_TOP_WALL_TIME_H

#include <stdint.h>

#define WALL_TIME_LEN 40

/*
 * What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, in ns: as in *lead, which is 0 at first, unless
 * the time was set since. What is told twice is told alike.
 */
uint64_t wall_time__steady_lead(uint64_t *lead);

/* "2026-01-31T23:59:59.000001", the local time of so many ns since the epoch. Returns buf. */
char *wall_time__put(uint64_t ns, char buf[WALL_TIME_LEN]);

/* The same way back. 0 or -EINVAL. */
int wall_time__parse(const char *text, uint64_t *ns);

#endif /* DENET_TOP_WALL_TIME_H */
