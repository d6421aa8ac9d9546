/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --off-cpu-max-rate against loads whose rate is known for each period: the recorder's look once a
 * second, and what the programs do within one.
 */
#include "common/harness.h"

#include "base/units.h"
#include "bpf_skel/sample_budget.h"
#include "capture/capture.h"
#include "session/sampling.h"

/* A load: so many blocks a second of each length. */
struct load {
	uint64_t ns;
	uint64_t rate;
};

/* Adds a second of the load at a level: counts below, between and above the thresholds. */
static void run(const struct load *load, size_t nr, struct sampling_level level,
		struct sampling_counts *counts)
{
	for (size_t i = 0; i < nr; i++) {
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
	const struct sampling_counts counts = { .below = 1000000 };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 0, 1);
	EXPECT_FALSE(sampling__adopt(&sampling, 5, 1, 1, &counts));
	EXPECT_EQ(0, sampling__level(&sampling).period_ns);
	EXPECT_EQ(500 * NSEC_PER_MSEC, sampling__level(&sampling).threshold_ns);
	EXPECT_EQ(UINT64_MAX, sampling__due(&sampling));
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

/* A recording: what is in force in the programs, which make it coarser themselves. */
struct test_capture {
	struct sampling sampling;
	struct sample_budget budget;
	__u64 period;
	__u64 threshold;
	uint64_t now;
	uint64_t looked_late_ns; /* the recorder looks so much later than it wants to */
	struct sampling_counts counts;
};

static void begin(struct test_capture *run, uint64_t threshold, uint32_t max_rate)
{
	*run = (struct test_capture){ .now = 5 * NSEC_PER_SEC };
	sampling__init(&run->sampling, 0, threshold, max_rate, run->now);
	run->period = sampling__level(&run->sampling).period_ns;
	run->threshold = threshold;
}

/* As rate_control__look() does it. */
static void look(struct test_capture *run)
{
	struct sampling_level level;

	if (run->now < sampling__due(&run->sampling) + run->looked_late_ns)
		return;
	if (sampling__adopt(&run->sampling, run->period, run->threshold, run->now, &run->counts) ||
	    sampling__look(&run->sampling, run->now, &run->counts)) {
		level = sampling__level(&run->sampling);
		run->period = level.period_ns;
		run->threshold = level.threshold_ns;
	}
}

/* A sample of a block of that length. */
static void give(struct test_capture *run, uint64_t ns)
{
	struct sampling_level level = sampling__level(&run->sampling);
	bool above = ns >= run->threshold;

	if (ns >= level.threshold_ns)
		run->counts.above++;
	else
		run->counts.below++;
	if (ns >= level.lower_ns && ns < level.threshold_ns)
		run->counts.between += (ns < run->period && !above ? run->period : ns) / ns;
	sample_budget__spend(&run->budget, run->sampling.max_rate, run->now, above, &run->period,
			     &run->threshold);
}

/* The samples of a load in some milliseconds. Parts of samples are carried on. */
static uint64_t run_ms(struct test_capture *run, uint64_t ms, struct load load)
{
	uint64_t first = run->counts.below + run->counts.above, weight, part = 0;
	uint64_t end = run->now + ms * NSEC_PER_MSEC;

	while (run->now < end) {
		run->now += 10 * NSEC_PER_USEC;
		part += load.rate * load.ns / 100000;
		for (;;) {
			weight = load.ns < run->threshold && load.ns < run->period ? run->period
										   : load.ns;
			if (part < weight)
				break;
			part -= weight;
			give(run, load.ns);
		}
		look(run);
	}
	return run->counts.below + run->counts.above - first;
}

/* 64 threads that sleep all the time. */
static const struct load storm = { 64 * NSEC_PER_USEC, 1000000 };

TEST(a_storm_is_in_the_budget_from_its_first_second_on)
{
	const struct load calm = { NSEC_PER_MSEC, 3 };
	const uint32_t budgets[] = { 100, 1000 };
	struct test_capture run;

	for (size_t i = 0; i < 2; i++) {
		begin(&run, 500 * NSEC_PER_MSEC, budgets[i]);
		for (int second = 0; second < 5; second++)
			EXPECT_GE(budgets[i] * 5 / 4, run_ms(&run, 1000, storm));
		run_ms(&run, 20370, calm);
		EXPECT_GE(NSEC_PER_MSEC, run.period);
		/* It begins within a second, and may spend what that one has left, too. */
		EXPECT_GE(budgets[i] * 2, run_ms(&run, 1000, storm));
		for (int second = 0; second < 5; second++)
			EXPECT_GE(budgets[i] * 5 / 4, run_ms(&run, 1000, storm));
		/* And most of it is made use of. */
		EXPECT_LE(budgets[i] / 2, run_ms(&run, 1000, storm));
	}
}

TEST(a_recorder_that_comes_late_keeps_to_the_budget)
{
	struct test_capture run;

	begin(&run, 500 * NSEC_PER_MSEC, 200);
	run.looked_late_ns = 3600 * NSEC_PER_SEC;
	for (int second = 0; second < 10; second++)
		EXPECT_GE(250, run_ms(&run, 1000, storm));
}

TEST(what_is_in_force_is_adopted_once)
{
	const struct sampling_counts counts = { .below = 700 };
	struct sampling sampling;

	sampling__init(&sampling, 0, 500 * NSEC_PER_MSEC, 200, 0);
	EXPECT_FALSE(sampling__adopt(&sampling, NSEC_PER_MSEC, 500 * NSEC_PER_MSEC, 1, &counts));
	EXPECT_TRUE(sampling__adopt(&sampling, 9 * NSEC_PER_MSEC, NSEC_PER_MSEC, 5, &counts));
	EXPECT_FALSE(sampling__adopt(&sampling, 9 * NSEC_PER_MSEC, NSEC_PER_MSEC, 6, &counts));
	EXPECT_EQ(9 * NSEC_PER_MSEC, sampling__level(&sampling).period_ns);
	EXPECT_EQ(1, sampling.changes);
	/* Samples from before the adoption do not count. */
	EXPECT_EQ(700, sampling.seen.below);
	EXPECT_EQ(5, sampling.looked);
	EXPECT_TRUE(sampling__adopt(&sampling, 9 * NSEC_PER_MSEC, NSEC_PER_SEC, 7, &counts));
	EXPECT_EQ(NSEC_PER_SEC, sampling__level(&sampling).threshold_ns);
}

TEST(blocks_above_the_threshold_alone_raise_it_within_a_second)
{
	const struct load naps = { 3 * NSEC_PER_MSEC, 2500 };
	const uint64_t thresholds[] = { 0, NSEC_PER_MSEC };
	struct test_capture run;

	for (size_t i = 0; i < 2; i++) {
		begin(&run, thresholds[i], 100);
		EXPECT_GE(150, run_ms(&run, 1000, naps));
		EXPECT_LT(3 * NSEC_PER_MSEC, run.threshold);
		for (int second = 0; second < 5; second++)
			EXPECT_GE(130, run_ms(&run, 1000, naps));
	}
}

TEST(a_burst_of_long_blocks_stays_exact_where_a_second_has_room_for_it)
{
	struct test_capture run;

	begin(&run, 500 * NSEC_PER_MSEC, 100);
	for (int i = 0; i < 15; i++)
		give(&run, NSEC_PER_SEC);
	EXPECT_EQ(500 * NSEC_PER_MSEC, run.threshold);
	for (int i = 0; i < 1000; i++)
		give(&run, NSEC_PER_SEC);
	EXPECT_LT(500 * NSEC_PER_MSEC, run.threshold);
}

TEST(chance_moves_nothing_in_a_part_of_a_second)
{
	struct test_capture run;

	/* A steady rate, of which some parts come in half of their time. */
	begin(&run, 500 * NSEC_PER_MSEC, 200);
	for (int second = 0; second < 10; second++) {
		for (int i = 0; i < 200; i++) {
			run.now += (i / 25 % 2 ? 8 : 2) * NSEC_PER_MSEC;
			give(&run, 10 * NSEC_PER_USEC);
		}
	}
	EXPECT_EQ(NSEC_PER_MSEC, run.period);
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

TEST(no_rate_however_great_overflows_the_budget)
{
	__u64 period = NSEC_PER_MSEC, threshold = 3000 * NSEC_PER_SEC;
	struct sample_budget budget = { 0 };

	/* The clock of another CPU may be behind. */
	for (uint64_t i = 0; i < 1000; i++)
		sample_budget__spend(&budget, 1, NSEC_PER_SEC - i, i % 2, &period, &threshold);
	EXPECT_EQ(CAPTURE_MAX_PERIOD_NS, period);
	for (uint64_t i = 0; i < 1000; i++)
		sample_budget__spend(&budget, UINT32_MAX, 2 * NSEC_PER_SEC, 1, &period, &threshold);
	for (uint64_t i = 0; i < 1000; i++)
		sample_budget__spend(&budget, 1, 2 * NSEC_PER_SEC, 1, &period, &threshold);
	EXPECT_EQ(3600 * NSEC_PER_SEC, threshold);
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
