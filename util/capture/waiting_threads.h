/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_WAITING_THREADS_H
#define DENET_CAPTURE_WAITING_THREADS_H

#include <stddef.h>

#include "capture/capture.h"

/* Threads kept; of others only the sums are known. */
#define WAITING_THREADS_MAX 64

/* The threads with the longest waits for a CPU, the longest first. Zero-initialised is empty. */
struct waiting_threads {
	struct thread_waits top[WAITING_THREADS_MAX];
	size_t nr;
};

/* Adds a thread, and drops the last one if there are too many. Waits of 0 ns are ignored. */
void waiting_threads__add(struct waiting_threads *threads, const struct thread_waits *thread);

#endif /* DENET_CAPTURE_WAITING_THREADS_H */
