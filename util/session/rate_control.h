/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_RATE_CONTROL_H
#define DENET_SESSION_RATE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "session/overhead.h"
#include "session/sampling.h"

enum rate_control_cause {
	RATE_CONTROL_BUDGET, /* --off-cpu-max-rate */
	RATE_CONTROL_COST,   /* --max-overhead: a period, or a finer one */
	RATE_CONTROL_RETURN, /* --max-overhead asks for none any more */
};

/* Why what is in force has changed; 0 where it has nothing to do with it. */
struct rate_control_reason {
	enum rate_control_cause cause;
	struct sampling_level old;
	uint32_t max_rate;  /* samples a second */
	uint32_t bpf_ppm;   /* millionths of the busiest CPU */
	uint32_t own_ppm;   /* millionths of a CPU, over all of them */
	uint32_t limit_ppm; /* of both together */
};

/* level is in force from now on. 0 or a negative errno. */
typedef int (*rate_control_fn)(void *ctx, const struct sampling_level *level,
			       const struct rate_control_reason *reason);

struct rate_control_options {
	uint64_t period_ns; /* by the user, 0: all blocks are recorded */
	uint64_t threshold_ns;
	uint32_t max_overhead_ppm; /* 0: whatever it costs */
	uint32_t max_rate;         /* samples a second, 0: as many as there are */
	bool between_windows;      /* windows are too long to look at their ends only */
	const struct sampling_counts *counts; /* of what has been delivered so far; borrowed */
	rate_control_fn changed;
	uint64_t (*unwind_ns)(void *ctx, uint64_t *gone_ns); /* see unwind_worker__stats() */
	void *ctx;
};

/*
 * Makes a recording coarser while it runs, and finer again: once a second it asks
 * --off-cpu-max-rate and --max-overhead, sets the level of the capture, and calls back. It adopts
 * the coarser level that the programs set within a second to keep to the budget. It knows no file.
 */
struct rate_control {
	struct rate_control_options options;
	struct capture *capture;
	struct sampling sampling;
	struct overhead overhead;
	struct sampling_counts counts; /* at the previous look at the cost */
	uint64_t looked;	/* when that was, CLOCK_MONOTONIC */
	uint64_t own_ns;	/* CPU time of this process and its helpers until then */
	uint64_t unwind_ns;
	uint64_t blocks;	/* a second, when the run time was measured last */
	unsigned int pause;	/* seconds until it is measured again */
	bool measuring;
	bool may_measure;
	bool told_cost;		/* the user knows that it was sampled for its cost, */
	bool told_helpless;	/* and that sampling would not help */
	uint64_t began;		/* when blocks were recorded first; 0: not yet */
	uint64_t since;		/* when --max-overhead asked for a period; 0: it does not */
	uint64_t sampled_ns;	/* for which it did until then */
};

/* Before there is a capture. */
void rate_control__init(struct rate_control *control, const struct rate_control_options *options);

/* The capture, which is borrowed, has started, with the period of rate_control__level(). */
void rate_control__start(struct rate_control *control, struct capture *capture);

/* Blocks are recorded. 0 or a negative errno. */
int rate_control__begin(struct rate_control *control);

struct sampling_level rate_control__level(const struct rate_control *control);

/* When it wants to look besides at the ends of windows, CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t rate_control__due(const struct rate_control *control);

/* Looks, and changes what is to be changed. 0 or a negative errno. */
int rate_control__look(struct rate_control *control, uint64_t now, bool window_ended);

/* No look comes any more: tells what the programs did since the last one. 0 or a negative errno. */
int rate_control__end(struct rate_control *control, uint64_t now);

/* The share of the time until now, 0 to 1, for which --max-overhead had blocks sampled. */
double rate_control__sampled_share(const struct rate_control *control, uint64_t now);

#endif /* DENET_SESSION_RATE_CONTROL_H */
