/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conservation: every block seen has exactly one outcome, in counts and in ns, whatever is filtered
 * out and however small the rings and maps are.
 */
#include "common/harness.h"

#include "base/clock.h"
#include "base/units.h"
#include "bpf_skel/wire.h"
#include "common/test_capture.h"

#define ALL_STATES ((1U << WIRE_STATE_MAX) - 1)

FIXTURE(account)
{
	struct workload workload;
	struct test_capture test_capture;
};

FIXTURE_VARIANT(account)
{
	uint64_t threshold_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t states;
};

FIXTURE_VARIANT_ADD(account, all_direct)
{
	.max_ns = UINT64_MAX, .states = ALL_STATES,
};
FIXTURE_VARIANT_ADD(account, all_accumulated)
{
	.threshold_ns = 500 * NSEC_PER_MSEC, .max_ns = UINT64_MAX, .states = ALL_STATES,
};
FIXTURE_VARIANT_ADD(account, both)
{
	.threshold_ns = 150 * NSEC_PER_USEC, .max_ns = UINT64_MAX, .states = ALL_STATES,
};
FIXTURE_VARIANT_ADD(account, long_blocks_only)
{
	.threshold_ns = NSEC_PER_MSEC,
	.min_ns = 200 * NSEC_PER_USEC,
	.max_ns = UINT64_MAX,
	.states = ALL_STATES,
};
FIXTURE_VARIANT_ADD(account, short_blocks_only)
{
	.threshold_ns = 500 * NSEC_PER_MSEC, .max_ns = 150 * NSEC_PER_USEC, .states = ALL_STATES,
};
FIXTURE_VARIANT_ADD(account, runnable_only)
{
	.threshold_ns = 500 * NSEC_PER_MSEC,
	.max_ns = UINT64_MAX,
	.states = 1U << WIRE_STATE_R,
};
FIXTURE_VARIANT_ADD(account, sleeps_only)
{
	.max_ns = UINT64_MAX, .states = 1U << WIRE_STATE_S,
};

FIXTURE_SETUP(account)
{
	const char *const argv[] = { "stacks", "--wait",   "--threads", "3",	"--bits", "5",
				     "--us",   "100", "--rounds",  "10", NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
}

FIXTURE_TEARDOWN(account)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

static void expect_conserved(struct __test_metadata *_metadata,
			     const struct test_capture *test_capture)
{
	const struct capture_stats *stats = &test_capture->stats;
	struct session_filter any = { 0 };
	struct capture_tally sum = test_capture__sum(test_capture, &any);

	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	EXPECT_EQ(stats->direct.count + stats->accumulated.count + stats->in_flight.count,
		  sum.count);
	EXPECT_EQ(stats->direct.ns + stats->accumulated.ns + stats->in_flight.ns, sum.ns);
	EXPECT_LE(stats->unseen_switches, test_capture__hidden(test_capture));
	if (stats__unaccounted_count(stats) || stats__unaccounted_ns(stats))
		stats__print(stats);
}

static uint64_t voluntary(const struct workload *workload)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < workload->nr_truths; i++)
		sum += workload->truths[i].voluntary;
	return sum;
}

TEST_F(account, every_seen_block_has_one_fate)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	options.filter.min_ns = variant->min_ns;
	options.filter.max_ns = variant->max_ns;
	options.filter.states = variant->states;
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 50));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	expect_conserved(_metadata, &self->test_capture);
	/* The kernel's own counts say how many there are at least, with those not shown. */
	EXPECT_LE(voluntary(&self->workload), stats->seen.count + stats->unseen_switches);
	EXPECT_LT(500, stats->seen.count);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
	if (variant->min_ns) {
		EXPECT_LT(0, stats->filtered_min.count);
	}
	if (variant->max_ns != UINT64_MAX)
		EXPECT_LT(0, stats->filtered_max.count);
	if (variant->states == 1U << WIRE_STATE_R) {
		EXPECT_LE(voluntary(&self->workload),
			  stats->filtered_state.count + stats->unseen_switches);
	}
	if (!variant->threshold_ns)
		EXPECT_EQ(0, stats->accumulated.count);
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		if (sample->still_blocked)
			continue;
		EXPECT_LE(variant->min_ns * sample->count, sample->period);
		if (sample->count == 1) {
			EXPECT_LE(sample->period, variant->max_ns);
		}
		if (variant->states == 1U << WIRE_STATE_R)
			EXPECT_EQ('R', sample->state);
		if (variant->states == 1U << WIRE_STATE_S) {
			EXPECT_EQ('S', sample->state);
		}
	}
}

FIXTURE(overflow)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
};

FIXTURE_SETUP(overflow)
{
	const char *const argv[] = { "stacks", "--wait", "--threads", "1", "--bits", "14", "--us",
				     tolerance__nap("20"), NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_TRUE(self->user != NULL);
}

FIXTURE_TEARDOWN(overflow)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
}

/*
 * Nobody reads until the ring has run over. The records of what was lost are written by the
 * kernel into the ring once there is room, so the workload goes on while it is read.
 */
TEST_F(overflow, full_ring_is_counted_block_by_block)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_options options;
	struct capture_stats early;
	uint64_t limit;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = 0;
	options.ring_pages = 1;
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, workload__go(&self->workload));
	limit = tolerance__deadline();
	do {
		ASSERT_EQ(0, capture__stats(self->test_capture.capture, &early));
	} while (early.lost_ring.count < 1000 && clock__now_ns() < limit);
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	expect_conserved(_metadata, &self->test_capture);
	EXPECT_LT(0, stats->direct.count);
	EXPECT_LE(1000, stats->lost_ring.count);
	EXPECT_LT(0, stats->lost_ring.ns);
	EXPECT_LE(voluntary(&self->workload), stats->seen.count + stats->unseen_switches);
	EXPECT_LE(1000, self->test_capture.lost);
}

static int compare_stack(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->user.nr != y->user.nr)
		return x->user.nr < y->user.nr ? -1 : 1;
	/* Without frames there may be no memory. */
	return x->user.nr ? memcmp(x->user.ips, y->user.ips, x->user.nr * sizeof(*x->user.ips)) : 0;
}

/* Sorts the samples. */
static size_t distinct_stacks(struct test_capture *test_capture,
			      const struct session_filter *filter)
{
	const struct sample *previous = NULL;
	size_t nr = 0;

	if (!test_capture->nr)
		return 0;
	qsort(test_capture->samples, test_capture->nr, sizeof(*test_capture->samples),
	      compare_stack);
	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (!test_capture__matches(sample, filter))
			continue;
		nr += !previous || compare_stack(previous, sample);
		previous = sample;
	}
	return nr;
}

TEST_F(overflow, more_stacks_than_maps_hold_are_kept_one_by_one)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct session_filter bottom = { .function = "wait_bottom", .user = self->user,
					 .states = "SD" };
	struct session_filter walking = bottom;
	struct capture_options options;
	struct capture_tally sum;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = 500 * NSEC_PER_MSEC;
	/* 8 MB hold all of it, 300 bytes for each stack, however late they are read. */
	options.ring_pages = 2048;
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	expect_conserved(_metadata, &self->test_capture);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
	EXPECT_EQ(0, stats->lost_stack.count);
	sum = test_capture__sum(&self->test_capture, &bottom);
	/* A block whose end was not shown is none, but it is counted. */
	EXPECT_LE(sum.count, voluntary(&self->workload));
	/* It may wait for a page on the way to its sleep. */
	walking.function = "start_walking";
	EXPECT_LE(voluntary(&self->workload),
		  test_capture__sum(&self->test_capture, &walking).count + stats->unseen_switches);
	/* Each stack is slept in once: a second block in one is a sleep that was cut short. */
	EXPECT_LE(sum.count * 99 / 100, distinct_stacks(&self->test_capture, &bottom));
	EXPECT_LT(10000, sum.count);
}

TEST_HARNESS_MAIN
