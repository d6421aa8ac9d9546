/* SPDX-License-Identifier: GPL-2.0-only */
/* --max-overhead against machines whose costs are known: the period it sets, and when. */
#include "common/harness.h"

#include "base/minmax.h"
#include "base/units.h"
#include "session/overhead.h"

/* A second of a machine of four CPUs; sampling changes what is kept. */
struct machine {
	uint64_t switches; /* that the programs see */
	uint64_t blocks;   /* of targets, of these */
	uint64_t block_ns; /* how long each of them is */
	uint64_t stacks;   /* different sums that they come to */
	uint64_t sideband; /* records */
};

#define CPUS 4
#define RUN_NS 100
#define KEPT_NS 1200
#define SAMPLE_NS 2500
#define RECORD_NS 5000
#define LIMIT_PPM 30000

static struct overhead_look second_of(const struct machine *machine, uint64_t period, uint64_t now)
{
	struct overhead_look look = {
		.now = now * NSEC_PER_SEC,
		.elapsed_ns = NSEC_PER_SEC,
		.nr_cpus = CPUS,
		.period_ns = period,
		.trusted = true,
		.runs = 2 * machine->switches,
		.seen = machine->blocks,
		.seen_busiest = machine->blocks / CPUS,
		.kept = machine->blocks,
		.short_ns = machine->blocks * machine->block_ns,
		.samples = min_u64(machine->stacks, machine->blocks),
		.sideband = machine->sideband,
	};

	if (period) {
		if (machine->block_ns < period)
			look.kept = machine->blocks * machine->block_ns / period;
		look.not_drawn = look.seen - look.kept;
		look.samples = look.kept;
	}
	look.run_ns = look.runs * RUN_NS + look.kept * KEPT_NS;
	look.own_ns = look.samples * SAMPLE_NS + look.sideband * RECORD_NS;
	return look;
}

/* The cost of a second's events, in ppm of a CPU. */
static uint64_t true_cost(const struct overhead_look *look)
{
	return (look->run_ns / CPUS + look->own_ns / CPUS) / 1000;
}

/* Seconds of a machine; returns the period that is asked for in the end. */
static uint64_t run(struct overhead *overhead, const struct machine *machine, uint64_t period,
		    uint64_t from, uint64_t seconds, struct overhead_verdict *verdict)
{
	for (uint64_t i = 0; i < seconds; i++) {
		struct overhead_look look = second_of(machine, period, from + i);

		overhead__judge(overhead, &look, verdict);
		if (verdict->advice == OVERHEAD_SAMPLES || verdict->advice == OVERHEAD_RETURNS)
			period = verdict->period_ns;
	}
	return period;
}

static const struct machine quiet = { 2000, 1000, NSEC_PER_MSEC, 100, 10 };
static const struct machine storm = { 400000, 400000, 20 * NSEC_PER_USEC, 50, 10 };
static const struct machine diverse = { 200000, 200000, 20 * NSEC_PER_USEC, 200000, 10 };
/* A compiler farm: each process is new, and blocks a few times. */
static const struct machine forks = { 4000, 3000, 100 * NSEC_PER_USEC, 2500, 60000 };
/* Only the switches of others. */
static const struct machine strangers = { 1000000, 10, NSEC_PER_MSEC, 10, 0 };

TEST(what_is_below_the_limit_is_left_alone)
{
	struct overhead_verdict verdict;
	struct overhead overhead;

	overhead__init(&overhead, LIMIT_PPM);
	EXPECT_EQ(0U, run(&overhead, &quiet, 0, 0, 20, &verdict));
	EXPECT_EQ(OVERHEAD_STAYS, verdict.advice);
	/* And without a limit, everything. */
	overhead__init(&overhead, 0);
	EXPECT_EQ(0U, run(&overhead, &diverse, 0, 0, 20, &verdict));
	EXPECT_LT(100000U, verdict.bpf_ppm + verdict.own_ppm);
}

TEST(the_first_step_helps_and_gives_no_more_samples_than_there_is_room_for)
{
	const struct machine *machines[] = { &storm, &diverse };
	struct overhead_verdict verdict;
	struct overhead overhead;

	for (size_t i = 0; i < 2; i++) {
		struct overhead_look before = second_of(machines[i], 0, 0), after;

		overhead__init(&overhead, LIMIT_PPM);
		overhead__judge(&overhead, &before, &verdict);
		ASSERT_EQ(OVERHEAD_SAMPLES, verdict.advice);
		after = second_of(machines[i], verdict.period_ns, 1);
		EXPECT_GT(true_cost(&before) * 8 / 10, true_cost(&after));
		EXPECT_GT(before.kept / 10, after.samples);
		overhead__judge(&overhead, &after, &verdict);
		EXPECT_NE(OVERHEAD_RETURNS, verdict.advice);
	}
}

TEST(the_limit_is_kept_where_sampling_can_do_that)
{
	struct machine machine = diverse;
	struct overhead_verdict verdict;
	struct overhead_look look;
	struct overhead overhead;
	uint64_t period;

	machine.switches = machine.blocks = 60000;
	overhead__init(&overhead, LIMIT_PPM);
	period = run(&overhead, &machine, 0, 0, 10, &verdict);
	look = second_of(&machine, period, 10);
	EXPECT_LT(0U, period);
	EXPECT_GE(LIMIT_PPM, true_cost(&look));
	/* And it is not sampled more coarsely than need be. */
	EXPECT_LE(LIMIT_PPM / 4, true_cost(&look));
}

TEST(costs_that_sampling_cannot_lower_do_not_coarsen_a_recording)
{
	const struct machine *machines[] = { &forks, &strangers };
	struct overhead_verdict verdict;
	struct overhead overhead;

	for (size_t i = 0; i < 2; i++) {
		overhead__init(&overhead, LIMIT_PPM);
		EXPECT_EQ(0U, run(&overhead, machines[i], 0, 0, 20, &verdict));
		EXPECT_EQ(OVERHEAD_HELPLESS, verdict.advice);
		EXPECT_LT(LIMIT_PPM, verdict.fixed_ppm);
	}
}

TEST(all_blocks_count_again_some_seconds_after_the_load_has_gone)
{
	struct overhead_verdict verdict;
	struct overhead overhead;
	uint64_t period;

	overhead__init(&overhead, LIMIT_PPM);
	period = run(&overhead, &storm, 0, 0, 5, &verdict);
	EXPECT_LT(0U, period);
	/* Not while it lasts: what is seen tells what it would cost. */
	EXPECT_EQ(period, run(&overhead, &storm, period, 5, 100, &verdict));
	EXPECT_EQ(0U, run(&overhead, &quiet, period, 105, 5, &verdict));
	EXPECT_EQ(0U, run(&overhead, &quiet, 0, 110, 100, &verdict));
}

TEST(a_load_that_comes_and_goes_changes_things_ever_more_seldom)
{
	struct overhead_verdict verdict;
	uint64_t period = 0, changes = 0, now = 0;
	struct overhead overhead;

	overhead__init(&overhead, LIMIT_PPM);
	for (int i = 0; i < 100; i++) {
		uint64_t before = period;

		period = run(&overhead, &storm, period, now, 2, &verdict);
		changes += !before && period;
		period = run(&overhead, &quiet, period, now + 2, 5, &verdict);
		now += 7;
	}
	EXPECT_GE(4U, changes);
	/* But it does come back in the end. */
	EXPECT_EQ(0U, run(&overhead, &quiet, period, now, 100, &verdict));
}

TEST(a_period_that_others_ask_for_is_where_it_comes_back_to)
{
	struct overhead_verdict verdict;
	struct overhead_look look;
	struct overhead overhead;

	overhead__init(&overhead, LIMIT_PPM);
	look = second_of(&diverse, NSEC_PER_MSEC, 0);
	look.base_period = NSEC_PER_MSEC;
	look.period_ns = 50 * NSEC_PER_MSEC;
	/* 4,000 samples a second, which fit well. */
	for (int i = 0; i < 5; i++) {
		overhead__judge(&overhead, &look, &verdict);
		if (verdict.advice == OVERHEAD_RETURNS)
			break;
	}
	EXPECT_LT(0U, verdict.fixed_ppm);
	EXPECT_NE(OVERHEAD_SAMPLES, verdict.advice);
}

TEST(nothing_is_done_on_the_strength_of_a_guess)
{
	struct overhead_look look = second_of(&storm, 0, 0);
	struct overhead_verdict verdict;
	struct overhead overhead;

	look.trusted = false;
	look.runs = look.run_ns = 0;
	overhead__init(&overhead, LIMIT_PPM);
	overhead__judge(&overhead, &look, &verdict);
	EXPECT_EQ(OVERHEAD_STAYS, verdict.advice);
	EXPECT_LT(LIMIT_PPM, verdict.bpf_ppm);
}

TEST(no_numbers_are_too_great_or_too_small)
{
	struct overhead_verdict verdict;
	struct overhead_look look = { .now = 1, .elapsed_ns = 1, .nr_cpus = 1, .trusted = true };
	struct overhead overhead;

	overhead__init(&overhead, 1);
	overhead__judge(&overhead, &look, &verdict);
	EXPECT_EQ(OVERHEAD_STAYS, verdict.advice);
	look.seen = look.kept = look.short_ns = look.run_ns = look.own_ns = UINT64_MAX / 4;
	look.seen_busiest = look.samples = look.runs = UINT64_MAX / 4;
	overhead__judge(&overhead, &look, &verdict);
	EXPECT_EQ(OVERHEAD_SAMPLES, verdict.advice);
	EXPECT_EQ(UINT32_MAX, verdict.bpf_ppm);
}

TEST_HARNESS_MAIN
