/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_THROTTLE_H
#define DENET_SESSION_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "session/overhead.h"
#include "session/sampling.h"

struct sink;

struct throttle_options {
	uint64_t period_ns; /* that the user asked for, 0: all blocks count */
	uint64_t threshold_ns;
	uint32_t max_overhead_ppm; /* 0: whatever it costs */
	uint32_t max_rate;         /* samples a second, 0: as many as there are */
	uint64_t threads;          /* targets, about, when the recording begins */
	bool between_windows;      /* windows are too long to look at their ends only */
};

/*
 * What makes a recording coarser while it runs, and finer again: it asks --max-overhead and
 * --off-cpu-max-rate, tells the capture and the sink what is in force, and has the file know.
 */
struct throttle {
	struct throttle_options options;
	struct capture *capture;
	struct sink *sink;
	struct overhead overhead;
	struct sampling sampling;
	struct sampling_level asked; /* of sampling: before anybody had looked at the targets */
};

/* Before there is a capture: the sink, which is borrowed, learns what is in force. */
void throttle__init(struct throttle *throttle, const struct throttle_options *options,
		    struct sink *sink);

/* The capture, which is borrowed, has started, with the period of sampling__level(). */
void throttle__start(struct throttle *throttle, struct capture *capture);

/*
 * Blocks are recorded, perhaps for a while already: the budget's first looks come quickly. 0 or a
 * negative errno.
 */
int throttle__begin(struct throttle *throttle);

/* When it wants to look besides at the ends of windows, ns of CLOCK_MONOTONIC; UINT64_MAX: never.
 */
uint64_t throttle__due(const struct throttle *throttle);

/* Looks, and changes what is to be changed. 0 or a negative errno. */
int throttle__look(struct throttle *throttle, uint64_t now, bool window_ended);

#endif /* DENET_SESSION_THROTTLE_H */
