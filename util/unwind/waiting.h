/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_WAITING_H
#define DENET_UNWIND_WAITING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

/* A sample that waits for its result. Not in the ring, which the child can write to. */
struct waiter {
	uint64_t position; /* of its entry in the shm_ring */
	void *cookie;
	size_t answer_at; /* bytes from the beginning of the entry's data */
	uint32_t max_frames;
	pid_t pid; /* of the sample */
};

/* Waiting samples in the order of their arrival. Zero-initialised is empty. */
struct waiting {
	struct buffer all; /* struct waiter, back to back */
	size_t gone;	   /* removed entries at the front */
};

size_t waiting__count(const struct waiting *waiting);

/* Makes room, so that the next waiting__add() cannot fail. 0 or -ENOMEM. */
int waiting__reserve(struct waiting *waiting);

/* Appends a waiter. 0 or -ENOMEM. */
int waiting__add(struct waiting *waiting, const struct waiter *waiter);

/* The oldest one, NULL: none. Valid until the next change. */
const struct waiter *waiting__oldest(const struct waiting *waiting);

/* Removes the oldest one; there must be one. */
struct waiter waiting__take(struct waiting *waiting);

void waiting__free(struct waiting *waiting);

#endif /* DENET_UNWIND_WAITING_H */
