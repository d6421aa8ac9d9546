/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TRACK_H
#define DENET_BPF_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track_wire.h"

/*
 * The tracker of bpf_skel/track.bpf.c: one of our own, or one that is pinned, which other
 * samplers use as well.
 */
struct track;

/* Borrowed until track__new() returns. */
struct track_config {
	const struct wire_settings *settings;
	const __u8 *classes; /* WIRE_MAX_CALLS: enum wire_call by number */
	uint32_t what;	     /* TRACK_WIRE_CALLS ... */
	const char *pin;     /* the directory; NULL: the tracker is our own */
	bool records;	     /* of calls and requests that end: of those that were met, */
	uint64_t min_ns;     /* and of all that take so long; TRACK_WIRE_NEVER: none */
	bool inherits;	     /* what targets start is a target */
};

/* Attaches the tracker. On error NULL, with a negative errno in *err (logged). */
struct track *track__new(const struct track_config *config, int *err);

/* Records come from now on: all threads know whether they are targets. 0 or -errno (logged). */
int track__start(struct track *track);

/* Detaches it, unless others use it as well. Accepts NULL. */
void track__delete(struct track *track);

/* For the sampler's program: what it shares with the tracker, and its bit there. */
int track__tasks_fd(const struct track *track);
int track__requests_fd(const struct track *track);
uint32_t track__slot(const struct track *track);

/* Receives a record, struct track_wire_call or _done, valid during the call. 0 or an error. */
typedef int (*track_record_fn)(void *ctx, const void *data, size_t size);

/*
 * Passes records on until there are no more, or that time (CLOCK_MONOTONIC) has come. 0, fn's error
 * or a negative errno.
 */
int track__read(struct track *track, uint64_t until, track_record_fn fn, void *ctx);

/* The same at the end: no record comes from now on. What is left at that time is counted. */
int track__read_last(struct track *track, uint64_t until, track_record_fn fn, void *ctx);

/*
 * Records that the ring had no room for, or that track__read_last() left, and threads and requests
 * that were not tracked since track__new().
 */
struct track_losses {
	uint64_t records;
	uint64_t tracked;
};
struct track_losses track__losses(const struct track *track);

#endif /* DENET_BPF_TRACK_H */
