/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_WAITING_H
#define DENET_UNWIND_WAITING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

/* A sample that waits for its result. Kept apart from the ring, which the child can write to. */
struct waiter {
	uint64_t position; /* of its entry in the exchange */
	void *cookie;
	size_t answer_at; /* bytes from the beginning of the entry's data */
	uint32_t max_frames;
	pid_t pid; /* of the sample */
};

/* Those that wait, in the order in which they came. Zero-initialised is empty. */
struct waiting {
	struct buffer all; /* struct waiter, back to back */
	size_t gone;	   /* of them, at the front */
};

size_t waiting__count(const struct waiting *waiting);

/* Makes room, so that the next waiting__add() cannot fail. 0 or -ENOMEM. */
int waiting__reserve(struct waiting *waiting);

/* 0 or -ENOMEM. */
int waiting__add(struct waiting *waiting, const struct waiter *waiter);

/* The one that came first, NULL: none. Valid until the next change. */
const struct waiter *waiting__oldest(const struct waiting *waiting);

/* Takes it out; there must be one. */
struct waiter waiting__take(struct waiting *waiting);

void waiting__free(struct waiting *waiting);

#endif /* DENET_UNWIND_WAITING_H */
