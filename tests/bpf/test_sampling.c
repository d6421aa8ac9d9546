/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampled recordings against exact ones of the same run: a second capture keeps every block, so
 * that the distribution of the draws is known; see stray().
 */
#include "common/harness.h"

#include <math.h>

#include "base/units.h"
#include "common/test_capture.h"
#include "common/tolerance.h"

/*
 * Two captures stamp the ends of a block one after the other. Their lengths of it differ mostly by
 * less than 100 ns, rarely by some us, where an interrupt came between.
 */
#define SKEW_NS 1000.0

FIXTURE(sampling)
{
	struct workload workload;
	struct test_capture exact;
	struct test_capture drawn;
	struct capture_options options;
	uint64_t stolen_ns; /* at most that much, while it was recorded */
};

FIXTURE_SETUP(sampling)
{
	const char *const argv[] = { "uneven", "--wait", NULL };
	struct capture_options exact;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	capture_options__init(&exact);
	exact.threshold_ns = 0;
	exact.ring_pages = 4096; /* nobody reads it meanwhile */
	ASSERT_EQ(0, test_capture__open_process(&self->exact, &exact, &self->workload));
	capture_options__init(&self->options);
	self->options.seed = 42;
	self->stolen_ns = tolerance__stolen_ns();
}

FIXTURE_TEARDOWN(sampling)
{
	test_capture__free(&self->exact);
	test_capture__free(&self->drawn);
	workload__free(&self->workload);
}

/* Ends both. 0 or -errno. */
static int finish(FIXTURE_DATA(sampling) * self)
{
	int err = test_capture__close(&self->drawn);

	self->stolen_ns = tolerance__stolen_since(self->stolen_ns);
	return err ? err : test_capture__close(&self->exact);
}

/* Runs the workload under both. 0 or -errno. */
static int record(FIXTURE_DATA(sampling) * self)
{
	int err = test_capture__open_process(&self->drawn, &self->options, &self->workload);

	if (!err)
		err = test_capture__run(&self->drawn, &self->workload, 50);
	return err ? err : finish(self);
}

/*
 * How far a sum of independent draws is off what is expected, by Bernstein's inequality: farther
 * with a chance of less than 2 exp(-12.5), one in 130,000. Variance is that of the sum, most what
 * one of them can be off. Many draws have five standard errors, and few of them more: one block
 * that is short by chance, and drawn by another, is far beyond that, as no normal law holds for it.
 */
static double stray(double variance, double most)
{
	double few = 12.5 / 3 * most;

	return few + sqrt(few * few + 25 * variance);
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
	uint64_t nr_short; /* of these, about which a draw decides, or may do so */
	uint64_t nr_close; /* of these, so close to the period that it may not do so, either */
	double drawn;	   /* so many of the short ones are expected to be drawn */
	double drawn_variance;
	double variance_variance; /* of the recorder's estimate of the variance */
	double variance_skew;	  /* what skew makes of it */
};

/* The same for one block about which a draw decides. */
static void add_draw(struct truth_sum *truth, double ns, double period)
{
	double chance = ns / period, left = period - ns;

	truth->variance += ns * left;
	truth->drawn += chance;
	truth->drawn_variance += chance * (1 - chance);
	/* A block that is drawn adds period * left to the recorder's estimate of the variance. */
	truth->variance_variance += ns * left * left * left;
	truth->variance_skew += (fabs(left - ns) + SKEW_NS) * SKEW_NS;
}

/*
 * Sums of the exact blocks of a thread (0: all), and how well a given period can sample them.
 * Blocks at least as long as the period are not drawn; those within SKEW_NS of it may or may not
 * be.
 */
static struct truth_sum truth_of(const FIXTURE_DATA(sampling) * self, pid_t tid, uint64_t period)
{
	struct truth_sum truth = { 0 };

	for (size_t i = 0; i < self->exact.nr; i++) {
		const struct sample *sample = &self->exact.samples[i];

		if (!is_whole(self, sample, tid))
			continue;
		truth.ns += (double)sample->period;
		truth.count++;
		if ((double)sample->period >= (double)period + SKEW_NS)
			continue;
		truth.nr_short++;
		truth.nr_close += (double)sample->period > (double)period - SKEW_NS;
		if (sample->period < period)
			add_draw(&truth, (double)sample->period, (double)period);
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

/*
 * Greatest difference between the sums of the two captures: by the draw, at most a period for each
 * block that it decides about; by the skew; and by stolen time between two stamps.
 */
static double slack_of(const FIXTURE_DATA(sampling) * self, const struct truth_sum *truth)
{
	double period = (double)self->options.period_ns, all = (double)truth->nr_short * period;
	/* A skew in a block's length changes its variance, ns * (period - ns). */
	double draw = fmin(stray(truth->variance + all * SKEW_NS, period), all);

	return draw + SKEW_NS * (double)truth->count + (double)self->stolen_ns +
	       (double)tolerance__untold_ns((uint64_t)truth->ns);
}

static void expect_unbiased(struct __test_metadata *_metadata, FIXTURE_DATA(sampling) * self)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		pid_t tid = self->workload.truths[i].tid;
		struct truth_sum truth = truth_of(self, tid, self->options.period_ns);

		EXPECT_LE(self->workload.truths[i].voluntary, truth.count);
		EXPECT_EQ(0, self->exact.lost);
		EXPECT_GE(slack_of(self, &truth), fabs(drawn_sum_of(self, tid) - truth.ns));
	}
}

/* How many were drawn, and how many were not, and what the recorder makes of its error. */
static void expect_draws(struct __test_metadata *_metadata, const FIXTURE_DATA(sampling) * self)
{
	const struct capture_stats *stats = &self->drawn.stats;
	double period = (double)self->options.period_ns, estimate = stats->variance;
	struct truth_sum truth = truth_of(self, 0, self->options.period_ns);
	double skew = SKEW_NS / period * (double)truth.nr_short + (double)truth.nr_close;
	double off = stray(truth.drawn_variance, 1) + skew;
	uint64_t drawn = 0, drawn_whole = 0;

	for (size_t i = 0; i < self->drawn.nr; i++) {
		const struct sample *sample = &self->drawn.samples[i];

		if (sample->period == sample->measured)
			continue;
		drawn++;
		if (is_whole(self, sample, 0))
			drawn_whole++;
		else
			estimate -= period * (period - (double)sample->measured);
	}
	EXPECT_EQ(stats->drawn.count, drawn);
	EXPECT_GE(off, fabs((double)drawn_whole - truth.drawn));
	/* There may be more, of those that are not whole. */
	EXPECT_LE((double)truth.nr_short - truth.drawn - off, (double)stats->not_drawn.count);
	EXPECT_GE(stray(truth.variance_variance, period * period) + truth.variance_skew +
			  (double)truth.nr_close * period * SKEW_NS,
		  fabs(estimate - truth.variance));
}

TEST_F(sampling, every_thread_has_its_time_whatever_its_blocks)
{
	const struct capture_stats *stats = &self->drawn.stats;

	SKIP_FOR(test_capture__refused());
	self->options.period_ns = NSEC_PER_MSEC;
	ASSERT_EQ(0, record(self));
	expect_unbiased(_metadata, self);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	expect_draws(_metadata, self);
	EXPECT_EQ(0, stats->accumulated.count);
}

TEST_F(sampling, a_finer_period_has_a_smaller_error_and_more_samples)
{
	SKIP_FOR(test_capture__refused());
	self->options.period_ns = NSEC_PER_MSEC / 16;
	ASSERT_EQ(0, record(self));
	expect_unbiased(_metadata, self);
	expect_draws(_metadata, self);
}

TEST_F(sampling, blocks_of_the_threshold_or_the_period_stay_exact)
{
	uint64_t seen = 0, kept = 0;

	SKIP_FOR(test_capture__refused());
	self->options.period_ns = 100 * NSEC_PER_MSEC;
	self->options.threshold_ns = NSEC_PER_MSEC;
	ASSERT_EQ(0, record(self));
	for (size_t i = 0; i < self->exact.nr; i++)
		/* Far enough from the threshold for both captures to decide alike. */
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

/* The period changes during the recording, as --off-cpu-max-rate does it. */
TEST_F(sampling, the_period_may_change_while_blocks_end)
{
	const struct capture_stats *stats = &self->drawn.stats;
	uint64_t longest;

	SKIP_FOR(test_capture__refused());
	self->options.period_ns = 10 * NSEC_PER_USEC;
	longest = self->options.period_ns;
	ASSERT_EQ(0, test_capture__open_process(&self->drawn, &self->options, &self->workload));
	ASSERT_EQ(0, workload__go(&self->workload));
	while (!workload__read(&self->workload)) {
		self->options.period_ns = self->options.period_ns < NSEC_PER_MSEC ?
						  3 * self->options.period_ns :
						  10 * NSEC_PER_USEC;
		if (longest < self->options.period_ns)
			longest = self->options.period_ns;
		capture__set_sampling(self->drawn.capture, self->options.period_ns,
				      self->options.threshold_ns);
		ASSERT_LE(0, test_capture__poll(&self->drawn, 10, -1));
	}
	ASSERT_EQ(0, workload__finish(&self->workload));
	ASSERT_EQ(0, finish(self));
	/* The greatest period that was in force has the greatest variance. */
	self->options.period_ns = longest;
	expect_unbiased(_metadata, self);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

TEST_HARNESS_MAIN
