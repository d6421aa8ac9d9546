/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/sampling.h"

#include <math.h>

#include "base/minmax.h"
#include "base/units.h"
#include "capture/capture.h"

/*
 * What a budget begins with, at least and at most. The least is the right order of magnitude for
 * one busy thread and 999 Hz; quick looks don't go below it either, since a program that starts
 * has few blocks, and then many.
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
/* How far one look moves the period. */
#define FASTEST_UP 16
#define FASTEST_DOWN 2

/* When the quick looks come, after the beginning of a recording or of a surge. */
static const uint64_t quick_looks[] = {
	20 * NSEC_PER_MSEC,  50 * NSEC_PER_MSEC,  100 * NSEC_PER_MSEC,
	200 * NSEC_PER_MSEC, 400 * NSEC_PER_MSEC, LOOK_NS,
};
#define NR_QUICK_LOOKS (sizeof(quick_looks) / sizeof(quick_looks[0]))

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
		.glanced = now,
		.step = NR_QUICK_LOOKS,
	};
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

static void look_quickly(struct sampling *sampling, uint64_t now)
{
	sampling->quick = now;
	sampling->step = 0;
}

void sampling__begin(struct sampling *sampling, uint64_t now)
{
	sampling->looked = sampling->glanced = now;
	if (sampling->max_rate)
		look_quickly(sampling, now);
}

/* Samples that are worth a look before it is due. */
static uint64_t telling(const struct sampling *sampling)
{
	return max_u64(sampling->max_rate / TELLING_PART, LEAST_TELLING);
}

uint32_t sampling__wake_bytes(const struct sampling *sampling, uint32_t copy_bytes)
{
	uint64_t bytes;

	if (!sampling->max_rate)
		return 0;
	/* Other CPUs have some, too. */
	bytes = telling(sampling) / 2 * (SAMPLE_BYTES + copy_bytes);
	return (uint32_t)clamp(bytes, LEAST_WAKE_BYTES, UINT32_MAX);
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

uint64_t sampling__timer(const struct sampling *sampling)
{
	return sampling->step < NR_QUICK_LOOKS ? sampling->quick + quick_looks[sampling->step] :
						 UINT64_MAX;
}

uint64_t sampling__due(const struct sampling *sampling, const struct sampling_counts *counts,
		       uint64_t now)
{
	uint64_t come = counts->below - sampling->glimpsed.below + counts->above -
			sampling->glimpsed.above;
	uint64_t due = sampling__timer(sampling);

	if (!sampling->max_rate)
		return UINT64_MAX;
	/* That they come too quickly is a question of time: it may be answered but once. */
	if (come >= telling(sampling) &&
	    now < sampling->glanced + scale(come, NSEC_PER_SEC, 2ULL * sampling->max_rate))
		return now;
	return due < sampling->looked + LOOK_NS ? due : sampling->looked + LOOK_NS;
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
	bool has_room = 2 * below < share ||
			(4 * below < 3 * share &&
			 (double)below + 2 * sqrt((double)share) < (double)share);

	if (10 * below > 11 * share)
		period = clamp(scale(period, below, share), period, FASTEST_UP * period);
	else if (has_room)
		period = clamp(scale(period, below, share), period / FASTEST_DOWN, period);
	return clamp(period, least, max_u64(least, CAPTURE_MAX_PERIOD_NS));
}

/*
 * After a part of a second: nr samples came, of expected ones. The period moves as far as three
 * standard errors allow, so that what is chance moves nothing.
 */
static uint64_t quick_period(const struct sampling *sampling, uint64_t nr, double expected)
{
	uint64_t least = max_u64(sampling->user_period, FIRST_PERIOD);
	uint64_t period = sampling->rate_period;
	double most = (double)nr + 2 * sqrt((double)nr) + 3;

	if ((double)nr > expected * 1.1 && (double)nr > expected + 3 * sqrt(expected) + 3)
		return clamp((uint64_t)fmin((double)period * (double)nr / expected,
					    CAPTURE_MAX_PERIOD_NS),
			     period, FASTEST_UP * period);
	if (2 * most < expected && period > least)
		return max_u64((uint64_t)((double)period * most / expected), least);
	return period;
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

/* What has come since then, and in how much time. */
struct came {
	struct sampling_counts counts;
	uint64_t elapsed;
};

static struct came came_since(uint64_t then, const struct sampling_counts *seen, uint64_t now,
			      const struct sampling_counts *counts)
{
	return (struct came){
		.counts.below = counts->below - seen->below,
		.counts.above = counts->above - seen->above,
		.counts.between = counts->between - seen->between,
		.counts.ns = counts->ns - seen->ns,
		.elapsed = max_u64(now > then ? now - then : 0, LEAST_LOOK_NS),
	};
}

static uint64_t rate_of(uint64_t count, const struct came *came)
{
	return scale(count, NSEC_PER_SEC, came->elapsed);
}

/* After a second or so, in which chance is no matter. */
static void look_at_second(struct sampling *sampling, const struct came *came)
{
	uint64_t below = rate_of(came->counts.below, came);
	uint64_t above = rate_of(came->counts.above, came);

	if (is_crowded(sampling, above))
		sampling->rate_period = period_of_all(sampling, rate_of(came->counts.ns, came));
	else
		sampling->rate_period = next_period(sampling, below, sampling->max_rate - above);
	sampling->rate_threshold =
		next_threshold(sampling, above, rate_of(came->counts.between, came));
}

/*
 * Earlier than that. Long blocks that end all at once are exact as long as a second has room for
 * them; the others have a fifth of the budget then, at least.
 */
static void look_at_part(struct sampling *sampling, const struct came *came)
{
	uint64_t above = rate_of(came->counts.above, came), budget = sampling->max_rate;
	uint64_t share = above < budget - budget / 5 ? budget - above : budget / 5;
	double expected = (double)(share ? share : 1) * (double)came->elapsed / NSEC_PER_SEC;

	sampling->rate_period = quick_period(sampling, came->counts.below, expected);
}

/*
 * A look at a part of a second forgets what it saw, one at a whole one all. What was seen before a
 * change says nothing of what comes after it.
 */
static void look_on(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts,
		    bool at_all)
{
	sampling->glanced = now;
	sampling->glimpsed = *counts;
	if (at_all) {
		sampling->looked = now;
		sampling->seen = *counts;
	}
	while (sampling__timer(sampling) <= now)
		sampling->step++;
}

bool sampling__look(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts)
{
	struct sampling_level old = sampling__level(sampling), new;
	struct came second = came_since(sampling->looked, &sampling->seen, now, counts);
	struct came part = came_since(sampling->glanced, &sampling->glimpsed, now, counts);
	uint64_t period = sampling->rate_period;

	if (second.elapsed >= LOOK_NS || is_crowded(sampling, second.counts.above)) {
		look_at_second(sampling, &second);
		look_on(sampling, now, counts, true);
	} else {
		look_at_part(sampling, &part);
		look_on(sampling, now, counts, sampling->rate_period != period);
		if (sampling->rate_period > period)
			look_quickly(sampling, now);
	}
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
