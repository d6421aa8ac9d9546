/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_ORDERED_EVENTS_H
#define DENET_CAPTURE_ORDERED_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Records from the rings of several CPUs, delivered in the order of their times: a process may
 * begin on one CPU and go on on another whose ring is read first. Zero-initialised is empty.
 */
struct ordered_events {
	struct buffer bytes;   /* the records, one after the other */
	struct buffer entries; /* struct ordered_event */
};

typedef int (*ordered_event_fn)(void *ctx, const void *event, size_t size);

/* Keeps a copy of a record. 0 or -ENOMEM. */
int ordered_events__add(struct ordered_events *ordered_events, const void *event, size_t size,
			uint64_t time);

/*
 * Calls fn for each record older than until, oldest first, and forgets them. If until is taken
 * before a pass over all rings, no older record can come after that pass. 0, or the first result
 * other than 0, after which the delivered records are forgotten, too.
 */
int ordered_events__give(struct ordered_events *ordered_events, uint64_t until, ordered_event_fn fn,
			 void *ctx);

void ordered_events__free(struct ordered_events *ordered_events);

#endif /* DENET_CAPTURE_ORDERED_EVENTS_H */
