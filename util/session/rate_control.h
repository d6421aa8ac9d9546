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
	RATE_CONTROL_RETURN, /* --max-overhead needs no period any more */
};

/* The reason of a change; 0 for fields that have nothing to do with it. */
struct rate_control_reason {
	enum rate_control_cause cause;
	struct sampling_level old;
	uint32_t max_rate;  /* samples a second */
	uint32_t bpf_ppm;   /* millionths of the busiest CPU */
	uint32_t own_ppm;   /* millionths of a CPU, over all of them */
	uint32_t limit_ppm; /* of both together */
};

/* Called with the new level. 0 or a negative errno. */
typedef int (*rate_control_fn)(void *ctx, const struct sampling_level *level,
			       const struct rate_control_reason *reason);

struct rate_control_options {
	uint64_t period_ns; /* by the user, 0: all blocks are recorded */
	uint64_t threshold_ns;
	uint32_t max_overhead_ppm; /* 0: no limit */
	uint32_t max_rate;         /* samples a second, 0: no limit */
	bool between_windows;      /* windows are too long to check at their ends only */
	const struct sampling_counts *counts; /* of samples delivered so far; borrowed */
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
	uint64_t looked;	/* time of that, CLOCK_MONOTONIC */
	uint64_t own_ns;	/* CPU time of this process and its helpers until then */
	uint64_t unwind_ns;
	uint64_t blocks;	/* a second, when the run time was measured last */
	unsigned int pause;	/* seconds until it is measured again */
	bool measuring;
	bool may_measure;
	bool told_cost;		/* it was logged that blocks are sampled for their cost, */
	bool told_helpless;	/* and that sampling would not help */
	uint64_t began;		/* when recording of blocks began; 0: not yet */
	uint64_t since;		/* since when --max-overhead has set a period; 0: it sets none */
	uint64_t sampled_ns;	/* time of earlier such periods */
};

/* Before the capture is made. */
void rate_control__init(struct rate_control *control, const struct rate_control_options *options);

/* The capture, which is borrowed, has started, with the period of rate_control__level(). */
void rate_control__start(struct rate_control *control, struct capture *capture);

/* Called when blocks begin to be recorded. 0 or a negative errno. */
int rate_control__begin(struct rate_control *control);

struct sampling_level rate_control__level(const struct rate_control *control);

/* Time of the next check besides the ends of windows, CLOCK_MONOTONIC; UINT64_MAX: none. */
uint64_t rate_control__due(const struct rate_control *control);

/* Checks rate and cost, and changes the level if needed. 0 or a negative errno. */
int rate_control__look(struct rate_control *control, uint64_t now, bool window_ended);

/* At the end: reports changes by the programs since the last check. 0 or a negative errno. */
int rate_control__end(struct rate_control *control, uint64_t now);

/* The share of the time until now, 0 to 1, for which --max-overhead had blocks sampled. */
double rate_control__sampled_share(const struct rate_control *control, uint64_t now);

#endif /* DENET_SESSION_RATE_CONTROL_H */
