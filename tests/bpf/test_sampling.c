/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampled recordings against exact ones of the same run: a second capture that keeps every
 * block tells what there was. Bounds are five standard errors of what theory says.
 */
#include "common/harness.h"

#include <math.h>

#include "base/units.h"
#include "common/session.h"

/* Two captures stamp one block by turns, some us apart at each end. */
#define SKEW_NS 5000.0

FIXTURE(sampling)
{
	struct workload workload;
	struct session exact;
	struct session drawn;
	struct capture_options options;
};

FIXTURE_SETUP(sampling)
{
	const char *const argv[] = { "uneven", "--wait", NULL };
	struct capture_options exact;

	SKIP_FOR(session__refused());
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	capture_options__init(&exact);
	exact.threshold_ns = 0;
	exact.ring_pages = 4096; /* nobody reads it meanwhile */
	ASSERT_EQ(0, session__open_process(&self->exact, &exact, &self->workload));
	capture_options__init(&self->options);
	self->options.seed = 42;
}

FIXTURE_TEARDOWN(sampling)
{
	session__free(&self->exact);
	session__free(&self->drawn);
	workload__free(&self->workload);
}

/* Runs the workload under both. 0 or -errno. */
static int record(FIXTURE_DATA(sampling) * self)
{
	int err = session__open_process(&self->drawn, &self->options, &self->workload);

	if (!err)
		err = session__run(&self->drawn, &self->workload, 50);
	if (!err)
		err = session__close(&self->drawn);
	return err ? err : session__close(&self->exact);
}

/*
 * Blocks that began and ended under the eyes of both: not the wait at the gate, which the start
 * of the later one cuts.
 */
static bool is_whole(const FIXTURE_DATA(sampling) * self, const struct sample *sample, pid_t tid)
{
	return !sample->still_blocked && (!tid || sample->tid == (uint32_t)tid) &&
	       sample->time - sample->measured > self->drawn.stats.start_ns;
}

struct truth_sum {
	double ns;
	double variance; /* of a sampled sum of it */
	uint64_t count;
};

/* What a thread (0: all) was off, and how well that can be sampled with a period. */
static struct truth_sum truth_of(const FIXTURE_DATA(sampling) * self, pid_t tid, uint64_t period)
{
	struct truth_sum truth = { 0 };

	for (size_t i = 0; i < self->exact.nr; i++) {
		const struct sample *sample = &self->exact.samples[i];

		if (!is_whole(self, sample, tid))
			continue;
		truth.ns += (double)sample->period;
		truth.count++;
		if (sample->period < period)
			truth.variance += (double)sample->period *
					  (double)(period - sample->period);
	}
	return truth;
}

static double drawn_sum_of(const FIXTURE_DATA(sampling) * self, pid_t tid)
{
	double sum = 0;

	for (size_t i = 0; i < self->drawn.nr; i++) {
		const struct sample *sample = &self->drawn.samples[i];

		if (is_whole(self, sample, tid))
			sum += (double)sample->period;
	}
	return sum;
}

static void expect_unbiased(struct __test_metadata *_metadata, FIXTURE_DATA(sampling) * self)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		pid_t tid = self->workload.truths[i].tid;
		struct truth_sum truth = truth_of(self, tid, self->options.period_ns);

		EXPECT_LE(self->workload.truths[i].voluntary, truth.count);
		EXPECT_EQ(0, self->exact.lost);
		EXPECT_GE(5 * sqrt(truth.variance) + SKEW_NS * (double)truth.count,
			  fabs(drawn_sum_of(self, tid) - truth.ns));
	}
}

TEST_F(sampling, every_thread_has_its_time_whatever_its_blocks)
{
	const struct capture_stats *stats = &self->drawn.stats;

	SKIP_FOR(session__refused());
	self->options.period_ns = NSEC_PER_MSEC;
	ASSERT_EQ(0, record(self));
	expect_unbiased(_metadata, self);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	EXPECT_LT(4000, stats->not_drawn.count);
	EXPECT_LT(100, stats->drawn.count);
	EXPECT_EQ(0, stats->accumulated.count);
}

TEST_F(sampling, a_finer_period_has_a_smaller_error_and_more_samples)
{
	const struct capture_stats *stats = &self->drawn.stats;
	struct truth_sum truth;

	SKIP_FOR(session__refused());
	self->options.period_ns = NSEC_PER_MSEC / 16;
	ASSERT_EQ(0, record(self));
	expect_unbiased(_metadata, self);
	truth = truth_of(self, 0, NSEC_PER_MSEC / 16);
	EXPECT_LT(1000, stats->drawn.count);
	/* The recorder's own estimate of its error. */
	EXPECT_LE(0.8 * sqrt(truth.variance), sqrt(stats->variance));
	EXPECT_GE(1.2 * sqrt(truth.variance), sqrt(stats->variance));
}

TEST_F(sampling, blocks_of_the_threshold_or_the_period_stay_exact)
{
	uint64_t seen = 0, kept = 0;

	SKIP_FOR(session__refused());
	self->options.period_ns = 100 * NSEC_PER_MSEC;
	self->options.threshold_ns = NSEC_PER_MSEC;
	ASSERT_EQ(0, record(self));
	for (size_t i = 0; i < self->exact.nr; i++)
		/* Far enough from the threshold for both to be of one mind. */
		seen += is_whole(self, &self->exact.samples[i], 0) &&
			self->exact.samples[i].period >= NSEC_PER_MSEC + 50 * NSEC_PER_USEC;
	for (size_t i = 0; i < self->drawn.nr; i++) {
		const struct sample *sample = &self->drawn.samples[i];

		EXPECT_TRUE(sample->period == sample->measured ||
			    sample->period == self->options.period_ns);
		if (sample->measured >= NSEC_PER_MSEC) {
			EXPECT_EQ(sample->measured, sample->period);
			kept += is_whole(self, sample, 0);
		}
	}
	EXPECT_LT(0, seen);
	EXPECT_LE(seen, kept);
}

/* Changed in the midst, as --off-cpu-max-rate does it. */
TEST_F(sampling, the_period_may_change_while_blocks_end)
{
	const struct capture_stats *stats = &self->drawn.stats;

	SKIP_FOR(session__refused());
	self->options.period_ns = 10 * NSEC_PER_USEC;
	ASSERT_EQ(0, session__open_process(&self->drawn, &self->options, &self->workload));
	ASSERT_EQ(0, workload__go(&self->workload));
	while (!workload__read(&self->workload)) {
		self->options.period_ns = self->options.period_ns < NSEC_PER_MSEC ?
						  3 * self->options.period_ns :
						  10 * NSEC_PER_USEC;
		capture__set_sampling(self->drawn.capture, self->options.period_ns,
				      self->options.threshold_ns);
		ASSERT_LE(0, session__poll(&self->drawn, 10, -1));
	}
	ASSERT_EQ(0, workload__finish(&self->workload));
	ASSERT_EQ(0, session__close(&self->drawn));
	ASSERT_EQ(0, session__close(&self->exact));
	self->options.period_ns = 2 * NSEC_PER_MSEC; /* more than any that was in force */
	expect_unbiased(_metadata, self);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

TEST_HARNESS_MAIN
