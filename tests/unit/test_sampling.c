/* SPDX-License-Identifier: GPL-2.0-only */
/* --off-cpu-max-rate against loads whose rate is known for each period. */
#include "common/harness.h"

#include "base/units.h"
#include "capture/capture.h"
#include "session/sampling.h"

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
	EXPECT_EQ(UINT64_MAX, sampling__due(&sampling, &counts, 1));
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

TEST(a_surge_is_looked_at_at_once_and_what_the_budget_allows_is_not)
{
	struct sampling_counts counts = { .below = 2000 };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 999, 0);
	EXPECT_EQ(NSEC_PER_MSEC, sampling__due(&sampling, &counts, NSEC_PER_MSEC));
	/* A quarter of a second's samples in a twentieth of it, and in a half of it. */
	counts.below = 250;
	EXPECT_EQ(50 * NSEC_PER_MSEC, sampling__due(&sampling, &counts, 50 * NSEC_PER_MSEC));
	EXPECT_LE(800 * NSEC_PER_MSEC, sampling__due(&sampling, &counts, 500 * NSEC_PER_MSEC));
	counts.below = 10;
	EXPECT_LE(800 * NSEC_PER_MSEC, sampling__due(&sampling, &counts, NSEC_PER_MSEC));
}

/* A recording that goes on. */
struct test_capture {
	uint64_t now;
	struct sampling_counts counts;
};

/*
 * The samples of a load in some milliseconds, looked at when it is due, at the earliest after each
 * one. Parts of samples are carried on.
 */
static uint64_t run_ms(struct sampling *sampling, struct test_capture *run, uint64_t ms,
		       struct load load)
{
	struct sampling_counts *counts = &run->counts;
	uint64_t first = counts->below + counts->above, end = run->now + ms * NSEC_PER_MSEC;
	uint64_t weight, part = 0;
	struct sampling_level level;

	while (run->now < end) {
		level = sampling__level(sampling);
		weight = load.ns;
		if (load.ns < level.threshold_ns && load.ns < level.period_ns)
			weight = level.period_ns;
		run->now += NSEC_PER_MSEC;
		part += load.rate * load.ns / 1000;
		counts->ns += part / weight * weight;
		if (load.ns >= level.threshold_ns)
			counts->above += part / weight;
		else
			counts->below += part / weight;
		if (load.ns >= level.lower_ns && load.ns < level.threshold_ns)
			counts->between += part / weight * weight / load.ns;
		part %= weight;
		if (run->now >= sampling__due(sampling, counts, run->now))
			sampling__look(sampling, run->now, counts);
	}
	return counts->below + counts->above - first;
}

TEST(a_storm_is_in_the_budget_from_its_first_second_on)
{
	/* 64 threads that sleep all the time. */
	const struct load storm = { 64 * NSEC_PER_USEC, 1000000 };
	const uint32_t budgets[] = { 100, 1000 };
	struct sampling sampling;
	struct test_capture run;

	for (size_t i = 0; i < 2; i++) {
		run = (struct test_capture){ .now = 5 * NSEC_PER_SEC };
		sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, budgets[i], run.now);
		sampling__expect(&sampling, 64);
		/* The recording begins a while later. */
		run.now += NSEC_PER_SEC / 2;
		sampling__begin(&sampling, run.now);
		for (int second = 0; second < 5; second++)
			EXPECT_GE(budgets[i] * 11 / 10, run_ms(&sampling, &run, 1000, storm));
	}
}

TEST(who_starts_a_storm_alone_or_later_exceeds_the_budget_but_for_a_moment)
{
	const struct load storm = { 64 * NSEC_PER_USEC, 1000000 }, calm = { NSEC_PER_MSEC, 3 };
	struct sampling sampling;
	struct test_capture run = { 0 };

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 1000, run.now);
	sampling__expect(&sampling, 1);
	sampling__begin(&sampling, run.now);
	run_ms(&sampling, &run, 30, calm);
	EXPECT_GE(2000, run_ms(&sampling, &run, 1000, storm));
	for (int second = 0; second < 3; second++)
		EXPECT_GE(1100, run_ms(&sampling, &run, 1000, storm));
	run_ms(&sampling, &run, 20000, calm);
	EXPECT_GE(NSEC_PER_MSEC, sampling__level(&sampling).period_ns);
}

TEST(few_blocks_of_many_threads_are_fine_within_a_second)
{
	const struct load calm = { 100 * NSEC_PER_USEC, 2000 };
	struct sampling sampling;
	struct test_capture run = { 0 };
	uint64_t period;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 1000, run.now);
	sampling__expect(&sampling, 10000);
	EXPECT_EQ(NSEC_PER_SEC, sampling__level(&sampling).period_ns);
	sampling__begin(&sampling, run.now);
	run_ms(&sampling, &run, 1000, calm);
	period = sampling__level(&sampling).period_ns;
	/* As far as so few samples say anything. */
	EXPECT_GE(4 * NSEC_PER_MSEC, period);
	EXPECT_LE(NSEC_PER_MSEC, period);
}

TEST(blocks_above_the_threshold_alone_are_found_to_exceed_the_budget_between_its_looks)
{
	const struct load naps = { 3 * NSEC_PER_MSEC, 2500 };
	struct sampling sampling;
	struct test_capture run = { 0 };

	sampling__init(&sampling, 0, NSEC_PER_MSEC, 100, run.now);
	sampling__expect(&sampling, 8);
	sampling__begin(&sampling, run.now);
	EXPECT_GE(300, run_ms(&sampling, &run, 1000, naps));
	EXPECT_LT(3 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	for (int second = 0; second < 5; second++)
		EXPECT_GE(130, run_ms(&sampling, &run, 1000, naps));
}

TEST(long_blocks_that_end_at_once_stay_exact_where_a_second_has_room_for_them)
{
	struct sampling_counts counts = { .above = 70, .ns = 70 * NSEC_PER_SEC };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 100, 0);
	sampling__begin(&sampling, 0);
	EXPECT_EQ(NSEC_PER_MSEC, sampling__due(&sampling, &counts, NSEC_PER_MSEC));
	sampling__look(&sampling, NSEC_PER_MSEC, &counts);
	EXPECT_EQ(500 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	counts.above += 1000;
	sampling__look(&sampling, 2 * NSEC_PER_MSEC, &counts);
	EXPECT_LT(500 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
}

TEST(chance_moves_nothing_in_a_part_of_a_second)
{
	struct sampling_counts counts = { 0 };
	struct sampling sampling;

	/* Two are expected in the first 20 ms. */
	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 100, 0);
	sampling__begin(&sampling, 0);
	for (uint64_t nr = 0; nr < 6; nr++) {
		counts.below += nr;
		EXPECT_FALSE(sampling__look(&sampling, (nr + 1) * 20 * NSEC_PER_MSEC, &counts));
	}
	counts.below += 30;
	EXPECT_TRUE(sampling__look(&sampling, 140 * NSEC_PER_MSEC, &counts));
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

TEST(max_overhead_draws_from_blocks_above_a_lower_threshold_too_and_takes_that_back)
{
	struct sampling sampling;

	sampling__init(&sampling, 0, 0, 0, 0);
	EXPECT_TRUE(sampling__set_cost_period(&sampling, 10 * NSEC_PER_USEC));
	EXPECT_EQ(10 * NSEC_PER_USEC, sampling__level(&sampling).period_ns);
	EXPECT_EQ(10 * NSEC_PER_USEC, sampling__level(&sampling).threshold_ns);
	EXPECT_TRUE(sampling__set_cost_period(&sampling, 0));
	EXPECT_EQ(0, sampling__level(&sampling).period_ns);
	EXPECT_EQ(0, sampling__level(&sampling).threshold_ns);
	EXPECT_EQ(2, sampling.changes);
	sampling__init(&sampling, 20 * NSEC_PER_USEC, NSEC_PER_SEC, 0, 0);
	EXPECT_FALSE(sampling__set_cost_period(&sampling, 10 * NSEC_PER_USEC));
	EXPECT_EQ(NSEC_PER_SEC, sampling__level(&sampling).threshold_ns);
	EXPECT_EQ(20 * NSEC_PER_USEC, sampling__base_period(&sampling));
}

TEST_HARNESS_MAIN
