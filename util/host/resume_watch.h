/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_RESUME_WATCH_H
#define DENET_HOST_RESUME_WATCH_H

#include <stdbool.h>

/*
 * The end of a suspend. The kernel takes all CPUs but one away then and brings them back, and
 * announces neither (cpu_watch.h).
 */

/*
 * A descriptor that is readable after a suspend of the system or a change of the wall clock, which
 * cannot be told apart. Owned by the caller. A negative errno on failure.
 */
int resume_watch__open(void);

/* Whether that has happened since the last call. */
bool resume_watch__read(int fd);

#endif /* DENET_HOST_RESUME_WATCH_H */
