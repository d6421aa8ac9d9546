/* SPDX-License-Identifier: GPL-2.0-only */
/* --off-cpu-max-rate against loads whose rate is known for each period. */
#include "common/harness.h"

#include "base/units.h"
#include "capture/capture.h"
#include "record/sampling.h"

/* A load: so many blocks a second of each length. */
struct load {
	uint64_t ns;
	uint64_t rate;
};

/* What a second of it gives at a level: below[0] and above[1] the threshold. */
static void run(const struct load *load, size_t nr, struct sampling_level level,
		struct sampling_counts *counts)
{
	for (size_t i = 0; i < nr; i++) {
		counts->ns += load[i].rate * load[i].ns;
		if (load[i].ns >= level.lower_ns && load[i].ns < level.threshold_ns)
			counts->between += load[i].rate;
		if (load[i].ns >= level.threshold_ns)
			counts->above += load[i].rate;
		else if (load[i].ns >= level.period_ns)
			counts->below += load[i].rate;
		else
			counts->below += load[i].rate * load[i].ns / level.period_ns;
	}
}

/* The rate of the last of so many seconds. */
static uint64_t rate_after(struct sampling *sampling, const struct load *load, size_t nr,
			   int seconds)
{
	struct sampling_counts counts = sampling->seen, before = counts;
	uint64_t now = sampling->looked;

	for (int i = 0; i < seconds; i++) {
		before = counts;
		run(load, nr, sampling__level(sampling), &counts);
		now += NSEC_PER_SEC;
		sampling__look(sampling, now, &counts);
	}
	return counts.below + counts.above - before.below - before.above;
}

TEST(without_a_budget_all_blocks_count)
{
	struct sampling_counts counts = { .below = 1000000 };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 0, 1);
	EXPECT_EQ(0, sampling__level(&sampling).period_ns);
	EXPECT_EQ(500 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	EXPECT_EQ(UINT64_MAX, sampling__due(&sampling, &counts));
}

TEST(a_storm_is_brought_down_to_the_budget_and_a_trickle_is_left_whole)
{
	const struct load storm[] = { { 5000, 200000 }, { 200000, 3000 } };
	const struct load trickle[] = { { 5000, 100 }, { 200000, 50 } };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 999, 0);
	rate_after(&sampling, storm, 2, 10);
	EXPECT_GE(1150, rate_after(&sampling, storm, 2, 1));
	EXPECT_LE(450, rate_after(&sampling, storm, 2, 1));
	EXPECT_LE(140, rate_after(&sampling, trickle, 2, 30));
	EXPECT_GE(5 * NSEC_PER_USEC, sampling__level(&sampling).period_ns);
	EXPECT_GE(1150, rate_after(&sampling, storm, 2, 10));
}

TEST(long_blocks_that_exceed_the_budget_raise_the_threshold_and_it_comes_back)
{
	const struct load many[] = { { NSEC_PER_MSEC, 20000 }, { 20 * NSEC_PER_MSEC, 500 } };
	const struct load few[] = { { NSEC_PER_MSEC, 10 } };
	struct sampling sampling;

	sampling__init(&sampling, 0, 0, 999, 0);
	EXPECT_GE(1200, rate_after(&sampling, many, 2, 40));
	EXPECT_LT(NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	EXPECT_EQ(10, rate_after(&sampling, few, 1, 60));
	EXPECT_EQ(0, sampling__level(&sampling).threshold_ns);
	EXPECT_LT(0, sampling.changes);
}

TEST(a_load_that_stays_as_it_is_stays_in_the_budget)
{
	const struct load naps[] = { { 3 * NSEC_PER_MSEC, 2500 } };
	const struct load mixed[] = { { 100, 100000 }, { 30 * NSEC_PER_USEC, 20000 },
				      { 3 * NSEC_PER_MSEC, 300 } };
	struct sampling sampling;
	uint64_t greatest = 0;

	sampling__init(&sampling, 0, NSEC_PER_MSEC, 100, 0);
	rate_after(&sampling, naps, 1, 3);
	for (int second = 0; second < 60; second++)
		EXPECT_GE(130, rate_after(&sampling, naps, 1, 1));
	/* The threshold came back as far as it may: above what there are too many of. */
	EXPECT_LT(3 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	EXPECT_GE(6 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	sampling__init(&sampling, 0, 0, 100, 0);
	for (int second = 0; second < 10; second++) {
		rate_after(&sampling, mixed, 3, 1);
		if (sampling__level(&sampling).period_ns > greatest)
			greatest = sampling__level(&sampling).period_ns;
	}
	for (int second = 0; second < 60; second++)
		EXPECT_GE(130, rate_after(&sampling, mixed, 3, 1));
	EXPECT_LT(0, sampling__level(&sampling).threshold_ns);
	/* The period never was coarser than if all of them had been drawn: 1.51 s / 100. */
	EXPECT_GE(16 * NSEC_PER_MSEC, greatest);
}

TEST(the_period_never_goes_below_what_the_user_asked_for)
{
	const struct load trickle[] = { { 5000, 10 } };
	struct sampling sampling;

	sampling__init(&sampling, 20 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC, 999, 0);
	rate_after(&sampling, trickle, 1, 30);
	EXPECT_EQ(20 * NSEC_PER_MSEC, sampling__level(&sampling).period_ns);
	EXPECT_EQ(0, sampling.changes);
}

TEST(a_burst_is_looked_at_before_its_second_is_over)
{
	struct sampling_counts counts = { .below = 2000 };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 999, 0);
	EXPECT_GE(20 * NSEC_PER_MSEC, sampling__due(&sampling, &counts));
	counts.below = 10;
	EXPECT_LE(500 * NSEC_PER_MSEC, sampling__due(&sampling, &counts));
}

TEST(no_load_however_great_overflows)
{
	const struct load flood[] = { { UINT32_MAX, UINT32_MAX }, { 1, UINT64_MAX / 4 } };
	struct sampling sampling;

	sampling__init(&sampling, 0, 1, 1, 0);
	rate_after(&sampling, flood, 2, 100);
	EXPECT_GE(CAPTURE_MAX_PERIOD_NS, sampling__level(&sampling).period_ns);
	EXPECT_GE(3600 * NSEC_PER_SEC, sampling__level(&sampling).threshold_ns);
}

TEST(max_overhead_draws_from_blocks_above_a_lower_threshold_too)
{
	struct sampling sampling;

	sampling__init(&sampling, 0, 0, 0, 0);
	sampling__raise(&sampling, 10 * NSEC_PER_USEC);
	EXPECT_EQ(10 * NSEC_PER_USEC, sampling__level(&sampling).period_ns);
	EXPECT_EQ(10 * NSEC_PER_USEC, sampling__level(&sampling).threshold_ns);
	sampling__init(&sampling, 0, NSEC_PER_SEC, 0, 0);
	sampling__raise(&sampling, 10 * NSEC_PER_USEC);
	EXPECT_EQ(NSEC_PER_SEC, sampling__level(&sampling).threshold_ns);
}

TEST(who_asked_for_the_period_in_force_is_known)
{
	const struct load storm[] = { { 5000, 2000000 } };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 100, 0);
	EXPECT_FALSE(sampling__is_for_cost(&sampling));
	sampling__raise(&sampling, 4 * NSEC_PER_MSEC);
	EXPECT_TRUE(sampling__is_for_cost(&sampling));
	/* The budget then needs a longer one: 10 s in a second, a hundred samples. */
	rate_after(&sampling, storm, 1, 5);
	EXPECT_FALSE(sampling__is_for_cost(&sampling));
}

TEST_HARNESS_MAIN
