/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_REALTIME_H
#define DENET_TOP_REALTIME_H

#include <stdbool.h>

/*
 * Real-time scheduling of this process for a moment, so that it gets a CPU at the time at which it
 * wants one. Zero-initialised is off.
 */
struct realtime {
	bool on;
	int policy; /* to go back to */
	int priority;
};

/* Without the right to it (CAP_SYS_NICE), all stays as it is. Children do not inherit it. */
void realtime__enter(struct realtime *realtime);
void realtime__leave(struct realtime *realtime);

#endif /* DENET_TOP_REALTIME_H */
