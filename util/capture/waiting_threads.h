/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_WAITING_THREADS_H
#define DENET_CAPTURE_WAITING_THREADS_H

#include <stddef.h>

#include "capture/capture.h"

/* More threads than anybody looks at; of others only the sums are known. */
#define WAITING_THREADS_MAX 64

/* The threads that waited longest for a CPU, the longest first. Zeroed, it is empty. */
struct waiting_threads {
	struct thread_waits top[WAITING_THREADS_MAX];
	size_t nr;
};

/* Takes a thread in, and the last one out if there are too many. Waits of 0 ns are left out. */
void waiting_threads__add(struct waiting_threads *threads, const struct thread_waits *thread);

#endif /* DENET_CAPTURE_WAITING_THREADS_H */
