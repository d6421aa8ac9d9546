/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_ORDERED_EVENTS_H
#define DENET_CAPTURE_ORDERED_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Records from the rings of several CPUs, given out in the order of their times: a process
 * may begin on one CPU and go on on another whose ring is read first. Zero-initialised is
 * empty.
 */
struct queue {
	struct buffer bytes;   /* the records, one after the other */
	struct buffer entries; /* struct queue_entry */
};

typedef int (*queue_fn)(void *ctx, const void *event, size_t size);

/* Keeps a copy of a record. 0 or -ENOMEM. */
int queue__add(struct queue *queue, const void *event, size_t size, uint64_t time);

/*
 * Calls fn for each record older than until, oldest first, and forgets them. If until is
 * taken before a pass over all rings, no older record can come after that pass. 0, or the
 * first result other than 0, after which the records given out are forgotten, too.
 */
int queue__give(struct queue *queue, uint64_t until, queue_fn fn, void *ctx);

void queue__free(struct queue *queue);

#endif /* DENET_CAPTURE_ORDERED_EVENTS_H */
