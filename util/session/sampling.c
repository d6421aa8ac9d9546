/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/sampling.h"

#include <math.h>

#include "base/minmax.h"
#include "base/units.h"
#include "capture/capture.h"

/*
 * What a budget begins with, at least and at most. The least is the right order of magnitude for
 * one busy thread and 999 Hz.
 */
#define FIRST_PERIOD (NSEC_PER_MSEC)
#define GREATEST_FIRST_PERIOD (NSEC_PER_SEC)
#define LEAST_PERIOD (NSEC_PER_USEC)
#define LEAST_THRESHOLD (10 * NSEC_PER_USEC)
#define GREATEST_THRESHOLD (3600 * NSEC_PER_SEC)
/* A second, and a little less so that the end of a window of a second is late enough. */
#define LOOK_NS (900 * NSEC_PER_MSEC)
/* A look after less than this would mistake a burst for a rate. */
#define LEAST_LOOK_NS (10 * NSEC_PER_MSEC)
/* A share of the budget that says something of a rate, and no fewer samples than that. */
#define TELLING_PART 4
#define LEAST_TELLING 8
/* The same in bytes of a ring, which also has the side band: no less than that. */
#define SAMPLE_BYTES 256
#define LEAST_WAKE_BYTES 8192
/* How far one look moves the period; down to the first one, any distance. */
#define FASTEST 16

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

/* Samples that are worth a look before it is due. */
static uint64_t first_telling(const struct sampling *sampling)
{
	return max_u64(sampling->max_rate / TELLING_PART, LEAST_TELLING);
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
	};
	sampling__begin(sampling, now);
}

bool sampling__expect(struct sampling *sampling, uint64_t threads)
{
	uint64_t period;

	if (!sampling->max_rate)
		return false;
	period = scale(threads, NSEC_PER_SEC, sampling->max_rate);
	if (period > GREATEST_FIRST_PERIOD)
		period = GREATEST_FIRST_PERIOD;
	if (period <= sampling->rate_period)
		return false;
	sampling->rate_period = period;
	sampling->changes++;
	return true;
}

void sampling__begin(struct sampling *sampling, uint64_t now)
{
	sampling->looked = now;
	sampling->telling = first_telling(sampling);
}

uint32_t sampling__wake_bytes(const struct sampling *sampling, uint32_t copy_bytes)
{
	uint64_t bytes;

	if (!sampling->max_rate)
		return 0;
	/* Other CPUs have some, too. */
	bytes = first_telling(sampling) / 2 * (SAMPLE_BYTES + copy_bytes);
	return (uint32_t)clamp(bytes, LEAST_WAKE_BYTES, UINT32_MAX);
}

static uint64_t lower_threshold(const struct sampling *sampling)
{
	uint64_t half = sampling->rate_threshold / 2;

	return half < LEAST_THRESHOLD ? sampling->user_threshold :
					max_u64(half, sampling->user_threshold);
}

uint64_t sampling__base_period(const struct sampling *sampling)
{
	return max_u64(sampling->user_period, sampling->rate_period);
}

struct sampling_level sampling__level(const struct sampling *sampling)
{
	uint64_t period = sampling__base_period(sampling);

	return (struct sampling_level){
		.period_ns = max_u64(period, sampling->cost_period),
		.threshold_ns = max_u64(sampling->rate_threshold, sampling->cost_period),
		.lower_ns = max_u64(lower_threshold(sampling), sampling->cost_period),
	};
}

uint64_t sampling__due(const struct sampling *sampling, const struct sampling_counts *counts,
		       uint64_t now)
{
	uint64_t come = counts->below - sampling->seen.below + counts->above -
			sampling->seen.above;

	if (!sampling->max_rate)
		return UINT64_MAX;
	/* That they come too quickly is a question of time: it may be answered but once. */
	if (come >= sampling->telling &&
	    now < sampling->looked + scale(come, NSEC_PER_SEC, 2ULL * sampling->max_rate))
		return now;
	return sampling->looked + LOOK_NS;
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
		return clamp(clamp(above / budget, 2, FASTEST) * threshold,
			     max_u64(sampling->user_threshold, LEAST_THRESHOLD),
			     GREATEST_THRESHOLD);
	/* What is above it then must not drive it up again: that would be a burst each time. */
	if (5 * ((unsigned __int128)above + between) < 2 * (unsigned __int128)budget)
		return lower_threshold(sampling);
	return threshold;
}

/*
 * nr samples came, of expected ones. The period moves as far as chance allows, so that what is
 * chance moves nothing: each change is a record, and the draw is a draw.
 */
static uint64_t next_period(const struct sampling *sampling, uint64_t nr, double expected)
{
	uint64_t least = max_u64(sampling->user_period, LEAST_PERIOD);
	uint64_t greatest = max_u64(least, CAPTURE_MAX_PERIOD_NS);
	uint64_t period = sampling->rate_period;
	double most = (double)nr + 2 * sqrt((double)nr) + 3, factor = 1;

	if ((double)nr > expected * 1.1 && (double)nr > expected + 3 * sqrt(expected) + 3)
		factor = fmin((double)nr / expected, FASTEST);
	else if (4 * most < 3 * expected)
		factor = fmax(most / expected, fmin(1.0 / FASTEST, FIRST_PERIOD / (double)period));
	return clamp((uint64_t)((double)period * factor), least, greatest);
}

/*
 * While the threshold goes up, nobody knows how many blocks come below it. If it were all of
 * them, this is the period that would keep to the budget. ns: off the CPU in a second.
 */
static uint64_t period_of_all(const struct sampling *sampling, uint64_t ns)
{
	uint64_t period = sampling->rate_period;

	period = clamp(ns / sampling->max_rate, period, FASTEST * period);
	return period < CAPTURE_MAX_PERIOD_NS ? period : CAPTURE_MAX_PERIOD_NS;
}

/* What has come since the last look. */
struct came {
	struct sampling_counts counts;
	uint64_t elapsed;
};

static struct came what_came(const struct sampling *sampling, uint64_t now,
			     const struct sampling_counts *counts)
{
	const struct sampling_counts *seen = &sampling->seen;
	uint64_t elapsed = now > sampling->looked ? now - sampling->looked : 0;

	return (struct came){
		.counts.below = counts->below - seen->below,
		.counts.above = counts->above - seen->above,
		.counts.between = counts->between - seen->between,
		.counts.ns = counts->ns - seen->ns,
		.elapsed = max_u64(elapsed, LEAST_LOOK_NS),
	};
}

static uint64_t rate_of(uint64_t count, const struct came *came)
{
	return scale(count, NSEC_PER_SEC, came->elapsed);
}

/* How many samples below the threshold the budget has room for in that time: a fifth at least. */
static double expected_below(const struct sampling *sampling, const struct came *came)
{
	uint64_t budget = sampling->max_rate, above = rate_of(came->counts.above, came);
	uint64_t share = above < budget - budget / 5 ? budget - above : budget / 5;

	return (double)(share ? share : 1) * (double)came->elapsed / NSEC_PER_SEC;
}

static void adapt(struct sampling *sampling, const struct came *came, bool is_second)
{
	uint64_t above = rate_of(came->counts.above, came), period;

	if (is_crowded(sampling, is_second ? above : came->counts.above)) {
		sampling->rate_period = period_of_all(sampling, rate_of(came->counts.ns, came));
		sampling->rate_threshold = next_threshold(sampling, above, 0);
		return;
	}
	period = next_period(sampling, came->counts.below, expected_below(sampling, came));
	if (is_second || period > sampling->rate_period)
		sampling->rate_period = period;
	if (is_second)
		sampling->rate_threshold =
			next_threshold(sampling, above, rate_of(came->counts.between, came));
}

static bool differs(const struct sampling *sampling, const struct sampling_level *old)
{
	struct sampling_level new = sampling__level(sampling);

	return new.period_ns != old->period_ns || new.threshold_ns != old->threshold_ns;
}

bool sampling__look(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts)
{
	struct sampling_level old = sampling__level(sampling);
	struct came came = what_came(sampling, now, counts);
	bool is_second = came.elapsed >= LOOK_NS, changed;

	adapt(sampling, &came, is_second);
	changed = differs(sampling, &old);
	if (is_second || changed) {
		/* What came before a change says nothing of what comes after it. */
		sampling__begin(sampling, now);
		sampling->seen = *counts;
	} else {
		sampling->telling = 2 * (came.counts.below + came.counts.above);
	}
	sampling->changes += changed;
	return changed;
}

bool sampling__set_cost_period(struct sampling *sampling, uint64_t period_ns)
{
	struct sampling_level old = sampling__level(sampling);
	bool changed;

	sampling->cost_period = period_ns;
	changed = differs(sampling, &old);
	sampling->changes += changed;
	return changed;
}
