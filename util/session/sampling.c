/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/sampling.h"

#include <math.h>

#include "base/minmax.h"
#include "base/units.h"
#include "capture/capture.h"
#include "sample_budget.h"

/*
 * The first period of a budget, of the right order of magnitude for one busy thread and 999 Hz. If
 * it is too fine, the programs make it coarser within milliseconds (sample_budget.h).
 */
#define FIRST_PERIOD (NSEC_PER_MSEC)
#define LEAST_PERIOD (NSEC_PER_USEC)
#define LEAST_THRESHOLD SAMPLE_BUDGET_LEAST_THRESHOLD
/* A second, and a little less so that the end of a window of a second is late enough. */
#define LOOK_NS (900 * NSEC_PER_MSEC)
/* Limits of the change of the period in one step; down to the first one, any change. */
#define FASTEST SAMPLE_BUDGET_FASTEST

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
	};
	sampling__begin(sampling, now);
}

void sampling__begin(struct sampling *sampling, uint64_t now)
{
	sampling->looked = now;
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

uint64_t sampling__due(const struct sampling *sampling)
{
	return sampling->max_rate ? sampling->looked + LOOK_NS : UINT64_MAX;
}

/* True if blocks above the threshold take nearly all of the budget, by their number in a second. */
static bool is_crowded(const struct sampling *sampling, uint64_t above)
{
	return 5 * (unsigned __int128)above > 4 * (unsigned __int128)sampling->max_rate;
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

static bool differs(const struct sampling *sampling, const struct sampling_level *old)
{
	struct sampling_level new = sampling__level(sampling);

	return new.period_ns != old->period_ns || new.threshold_ns != old->threshold_ns;
}

/* Counts from before a change are not comparable with later ones. */
static void begin_second(struct sampling *sampling, uint64_t now,
			 const struct sampling_counts *counts)
{
	sampling__begin(sampling, now);
	sampling->seen = *counts;
}

bool sampling__adopt(struct sampling *sampling, uint64_t period_ns, uint64_t threshold_ns,
		     uint64_t now, const struct sampling_counts *counts)
{
	struct sampling_level old = sampling__level(sampling);

	if (!sampling->max_rate ||
	    (period_ns <= old.period_ns && threshold_ns <= old.threshold_ns))
		return false;
	if (period_ns > old.period_ns)
		sampling->rate_period = period_ns;
	if (threshold_ns > old.threshold_ns)
		sampling->rate_threshold = threshold_ns;
	begin_second(sampling, now, counts);
	sampling->changes++;
	return true;
}

static void raise_threshold(struct sampling *sampling, uint64_t factor)
{
	__u64 period = sampling->rate_period, threshold = sampling->rate_threshold;

	factor = clamp(factor, SAMPLE_BUDGET_SLOWEST, SAMPLE_BUDGET_FASTEST);
	sample_budget__coarsen(&period, &threshold, factor, true);
	sampling->rate_period = period;
	sampling->rate_threshold = threshold;
}

/* above, between: in a second. Sets the period and the threshold of the next one. */
static void adapt(struct sampling *sampling, uint64_t above, uint64_t between, uint64_t below,
		  double seconds)
{
	uint64_t budget = sampling->max_rate;
	uint64_t share = above < budget - budget / 5 ? budget - above : budget / 5;

	if (is_crowded(sampling, above)) {
		raise_threshold(sampling, above / budget);
		return;
	}
	/*
	 * Lowers the threshold only if the blocks above it then would not raise it again in a
	 * burst.
	 */
	if (5 * ((unsigned __int128)above + between) < 2 * (unsigned __int128)budget)
		sampling->rate_threshold = lower_threshold(sampling);
	sampling->rate_period = next_period(sampling, below, (double)max_u64(share, 1) * seconds);
}

bool sampling__look(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts)
{
	struct sampling_level old = sampling__level(sampling);
	const struct sampling_counts *seen = &sampling->seen;
	uint64_t elapsed = max_u64(now - sampling->looked, NSEC_PER_MSEC);
	bool changed;

	adapt(sampling, scale(counts->above - seen->above, NSEC_PER_SEC, elapsed),
	      scale(counts->between - seen->between, NSEC_PER_SEC, elapsed),
	      counts->below - seen->below, (double)elapsed / NSEC_PER_SEC);
	changed = differs(sampling, &old);
	begin_second(sampling, now, counts);
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
