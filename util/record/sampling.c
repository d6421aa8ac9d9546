/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sampling.h"

#include "base/units.h"
#include "capture/capture.h"

/* What a budget begins with: the right order of magnitude for one busy thread and 999 Hz. */
#define FIRST_PERIOD (NSEC_PER_MSEC)
#define LEAST_PERIOD (NSEC_PER_USEC)
#define LEAST_THRESHOLD (10 * NSEC_PER_USEC)
#define GREATEST_THRESHOLD (3600 * NSEC_PER_SEC)
/* A second, and a little less so that the end of a window of a second is late enough. */
#define LOOK_NS (900 * NSEC_PER_MSEC)
/* A look after less than this would mistake a burst for a rate. */
#define LEAST_LOOK_NS (10 * NSEC_PER_MSEC)
/* How far one look moves the period. */
#define FASTEST_UP 16
#define FASTEST_DOWN 2

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t greatest)
{
	return value < least ? least : value > greatest ? greatest : value;
}

/* a * b / c, which must not be 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 result = (unsigned __int128)a * b / c;

	return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

void sampling__init(struct sampling *sampling, uint64_t period_ns, uint64_t threshold_ns,
		    uint32_t max_rate, uint64_t now)
{
	*sampling = (struct sampling){
		.user_period = period_ns,
		.user_threshold = threshold_ns,
		.rate_period = max_rate ? max_u64(period_ns, FIRST_PERIOD) : 0,
		.rate_threshold = threshold_ns,
		.max_rate = max_rate,
		.looked = now,
	};
}

static uint64_t lower_threshold(const struct sampling *sampling)
{
	uint64_t half = sampling->rate_threshold / 2;

	return half < LEAST_THRESHOLD ? sampling->user_threshold :
					max_u64(half, sampling->user_threshold);
}

struct sampling_level sampling__level(const struct sampling *sampling)
{
	uint64_t period = max_u64(sampling->user_period, sampling->rate_period);

	return (struct sampling_level){
		.period_ns = max_u64(period, sampling->cost_period),
		.threshold_ns = max_u64(sampling->rate_threshold, sampling->cost_period),
		.lower_ns = max_u64(lower_threshold(sampling), sampling->cost_period),
	};
}

bool sampling__is_for_cost(const struct sampling *sampling)
{
	return sampling->cost_period &&
	       sampling->cost_period == sampling__level(sampling).period_ns;
}

uint64_t sampling__due(const struct sampling *sampling, const struct sampling_counts *counts)
{
	uint64_t come = counts->below - sampling->seen.below + counts->above - sampling->seen.above;

	if (!sampling->max_rate)
		return UINT64_MAX;
	return sampling->looked + (come > sampling->max_rate ? LEAST_LOOK_NS : LOOK_NS);
}

/* Blocks above the threshold that there are so many of, in a second, leave next to nothing. */
static bool is_crowded(const struct sampling *sampling, uint64_t above)
{
	return 5 * (unsigned __int128)above > 4 * (unsigned __int128)sampling->max_rate;
}

/* above, between: in a second. */
static uint64_t next_threshold(const struct sampling *sampling, uint64_t above, uint64_t between)
{
	uint64_t threshold = sampling->rate_threshold, budget = sampling->max_rate;

	if (is_crowded(sampling, above))
		return clamp(clamp(above / budget, 2, FASTEST_UP) * threshold,
			     max_u64(sampling->user_threshold, LEAST_THRESHOLD),
			     GREATEST_THRESHOLD);
	/* What is above it then must not drive it up again: that would be a burst each time. */
	if (5 * ((unsigned __int128)above + between) < 2 * (unsigned __int128)budget)
		return lower_threshold(sampling);
	return threshold;
}

/* below: samples a second; share: how many of them there may be. */
static uint64_t next_period(const struct sampling *sampling, uint64_t below, uint64_t share)
{
	uint64_t period = sampling->rate_period;
	uint64_t least = max_u64(sampling->user_period, LEAST_PERIOD);

	/* Between the two nothing moves: each change is a record, and the draw is a draw. */
	if (10 * below > 11 * share)
		period = clamp(scale(period, below, share), period, FASTEST_UP * period);
	else if (2 * below < share)
		period = clamp(scale(period, below, share), period / FASTEST_DOWN, period);
	return clamp(period, least, max_u64(least, CAPTURE_MAX_PERIOD_NS));
}

/*
 * While the threshold goes up, nobody knows how many blocks come below it. If it were all of
 * them, this is the period that would keep to the budget. ns: off the CPU in a second.
 */
static uint64_t period_of_all(const struct sampling *sampling, uint64_t ns)
{
	uint64_t period = sampling->rate_period;

	period = clamp(ns / sampling->max_rate, period, FASTEST_UP * period);
	return period < CAPTURE_MAX_PERIOD_NS ? period : CAPTURE_MAX_PERIOD_NS;
}

bool sampling__look(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts)
{
	struct sampling_level old = sampling__level(sampling), new;
	uint64_t elapsed = now > sampling->looked ? now - sampling->looked : 1;
	uint64_t below = scale(counts->below - sampling->seen.below, NSEC_PER_SEC, elapsed);
	uint64_t above = scale(counts->above - sampling->seen.above, NSEC_PER_SEC, elapsed);
	uint64_t between = scale(counts->between - sampling->seen.between, NSEC_PER_SEC, elapsed);
	uint64_t ns = scale(counts->ns - sampling->seen.ns, NSEC_PER_SEC, elapsed);
	uint64_t budget = sampling->max_rate;

	sampling->looked = now;
	sampling->seen = *counts;
	if (is_crowded(sampling, above))
		sampling->rate_period = period_of_all(sampling, ns);
	else
		sampling->rate_period = next_period(sampling, below, budget - above);
	sampling->rate_threshold = next_threshold(sampling, above, between);
	new = sampling__level(sampling);
	if (new.period_ns == old.period_ns && new.threshold_ns == old.threshold_ns)
		return false;
	sampling->changes++;
	return true;
}

void sampling__raise(struct sampling *sampling, uint64_t period_ns)
{
	sampling->cost_period = max_u64(sampling->cost_period, period_ns);
	sampling->changes++;
}
