/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_BOTTLENECKS_H
#define DENET_STAT_BOTTLENECKS_H

#include "stat/stat_data.h"

#define BOTTLENECKS_MAX 5
#define BOTTLENECK_LEN 512

/* Percentages from which a cause is worth a sentence. */
#define BOTTLENECK_BLOCKED_FROM 10  /* of the thread's wall time are in waits of that call */
#define BOTTLENECK_RUNNABLE_FROM 20 /* of it in waits for a CPU */
#define BOTTLENECK_MEASUREMENT_FROM 1 /* of the time that was measured */

/* Sentences, the greatest time first. Names in them may hold any bytes. */
struct bottlenecks {
	char text[BOTTLENECKS_MAX][BOTTLENECK_LEN];
	size_t nr;
};

/*
 * Which threads lose the most time, in which call or to which other threads; at most one sentence
 * for a thread, or for a process that has ended. Waits for work and for time are none, see
 * behaviour.h. Threads that wait for each other come first: that is a deadlock.
 */
void bottlenecks__find(const struct stat_data *data, struct bottlenecks *bottlenecks);

#endif /* DENET_STAT_BOTTLENECKS_H */
