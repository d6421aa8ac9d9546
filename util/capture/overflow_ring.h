/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_OVERFLOW_RING_H
#define DENET_CAPTURE_OVERFLOW_RING_H

#include <stddef.h>

/*
 * The ring shared by CPUs that have none: programs use it on a CPU that has just come online, or
 * come back, until it has its own (ring.h).
 */
struct overflow_ring;

/* Receives each record, as the programs sent it; valid during the call. 0 or a negative errno. */
typedef int (*overflow_ring_fn)(void *ctx, const void *data, size_t size);

/* Maps the ring buffer of a map, whose descriptor is borrowed. NULL on error, with *err set. */
struct overflow_ring *overflow_ring__new(int map_fd, int *err);
void overflow_ring__delete(struct overflow_ring *overflow_ring); /* accepts NULL */

/* Reads all records. Returns their number or a negative errno. */
int overflow_ring__read(struct overflow_ring *overflow_ring, overflow_ring_fn fn, void *ctx);

#endif /* DENET_CAPTURE_OVERFLOW_RING_H */
