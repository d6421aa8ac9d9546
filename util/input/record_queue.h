/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_RECORD_QUEUE_H
#define DENET_INPUT_RECORD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Records wait here until none that is older can come, and leave in the order of their times;
 * those of one time in the order in which they came. Zero-initialised is empty.
 */
struct record_queue {
	struct buffer bytes;   /* the records, each a multiple of 8 bytes */
	struct buffer entries; /* struct record_queue_entry, by value */
	uint64_t latest;       /* time of what came so far */
	uint64_t settled;      /* latest, when the round before this one ended */
};

struct record_queue_entry {
	uint64_t time;
	size_t at; /* in bytes */
	uint32_t size;
	uint32_t more; /* bytes of records behind it that belong to it */
};

/* A record that left the queue, and the bytes of those that belong to it, back to back. */
typedef int (*record_queue_fn)(void *ctx, uint64_t time, const void *record, size_t size,
			       const void *more, size_t more_size);

/*
 * Adds a copy of a record, whose size is at most 65535. 0 or -ENOMEM. Records that wait take at
 * most RECORD_QUEUE_MAX_BYTES and one more: then record_queue__is_full().
 */
int record_queue__add(struct record_queue *queue, uint64_t time, const void *record, size_t size);

/*
 * Adds a record that belongs to the one that was added last. Its size must be a multiple of 8. 0;
 * -ENOENT: there is none, or those that belong to it are many; -ENOMEM.
 */
int record_queue__add_more(struct record_queue *queue, const void *record, size_t size);

/* The record that was added last, and what belongs to it, if it still waits; NULL: none. */
const void *record_queue__last(const struct record_queue *queue, size_t *size, size_t *more);

/* More than a window of a recording has. */
#define RECORD_QUEUE_MAX_BYTES (256u << 20)
bool record_queue__is_full(const struct record_queue *queue);

/*
 * FINISHED_ROUND: what comes now is younger than all that came before the round before this one,
 * which is handed to fn. *settled receives the time up to which all is out. 0 or fn's first error.
 */
int record_queue__round(struct record_queue *queue, record_queue_fn fn, void *ctx,
			uint64_t *settled);

/* Hands out all. 0 or fn's first error. */
int record_queue__flush(struct record_queue *queue, record_queue_fn fn, void *ctx);

void record_queue__free(struct record_queue *queue);

#endif /* DENET_INPUT_RECORD_QUEUE_H */
