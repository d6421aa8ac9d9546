/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short blocks are summed up in windows. Nothing may depend on how long a window is but
 * the number of samples, and each sample's time lies in its window.
 */
#include "common/harness.h"

#include <unistd.h>

#include "base/units.h"
#include "common/test_capture.h"
#include "common/tolerance.h"

FIXTURE(windows)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
};

FIXTURE_VARIANT(windows)
{
	int window_ms;
};

FIXTURE_VARIANT_ADD(windows, of_5ms) { .window_ms = 5 };
FIXTURE_VARIANT_ADD(windows, of_100ms) { .window_ms = 100 };
FIXTURE_VARIANT_ADD(windows, one_only) { .window_ms = 0 };

FIXTURE_SETUP(windows)
{
	const char *const argv[] = { "stacks", "--wait",   "--threads", "2", "--bits", "6", "--us",
				     tolerance__nap("100"), "--rounds", "20", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = 500 * NSEC_PER_MSEC;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_TRUE(self->user != NULL);
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, variant->window_ms));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
}

FIXTURE_TEARDOWN(windows)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
}

CHECK_F(windows, sums_do_not_depend_on_the_length_of_the_window)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .tid = truth->tid, .states = "SD",
						 .function = "wait_bottom", .user = self->user };
		struct capture_tally sum = test_capture__sum(&self->test_capture, &filter);

		EXPECT_LE(sum.count, truth->voluntary);
		EXPECT_LE(truth->requested_ns * 99 / 100, sum.ns);
		EXPECT_LE(sum.ns, truth->bracket_ns);
		/* The thread may wait for a page on the way to its sleep. */
		filter.function = "start_walking";
		EXPECT_LE(truth->voluntary, test_capture__sum(&self->test_capture, &filter).count);
	}
	EXPECT_EQ(0, self->test_capture.stats.lost_stack.count);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&self->test_capture.stats));
}

CHECK_F(windows, times_of_samples_lie_in_the_recording_and_in_their_window)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	EXPECT_EQ(0, self->test_capture.stale);
	EXPECT_LE(self->test_capture.late, self->test_capture.drains * cpus);
	EXPECT_LT(0, self->test_capture.nr);
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		EXPECT_LE(stats->start_ns, self->test_capture.samples[i].time);
		EXPECT_LE(self->test_capture.samples[i].time, stats->end_ns);
	}
	if (variant->window_ms) {
		EXPECT_LE(self->test_capture.drains, stats->windows);
	}
	/*
	 * It sleeps for 128 ms and more in all. How many windows that makes depends on the kernel,
	 * on whose grace periods each drain waits: more than windows of 100 ms make, with those
	 * of the end.
	 */
	if (variant->window_ms == 5)
		EXPECT_LT(4, stats->windows);
}

/* Reads the path of turns from a chain: wait_bottom, turn, (turn_X, turn) ... */
static int path_of_turns(const struct sample *sample, const struct symbols *user, unsigned int bits)
{
	int path = 0;

	if (sample->user.nr < 2 + 2 * bits)
		return -1;
	for (unsigned int i = 0; i < bits; i++) {
		const char *name = symbols__name(user, sample->user.ips[2 + 2 * i]);

		if (!name || strncmp(name, "turn_", 5))
			return -1;
		/* The innermost turn is the highest bit. */
		path = path << 1 | !strcmp(name, "turn_right");
	}
	return path;
}

/*
 * Bound on the naps of a stack, of 40, that made no block because they were over before the thread
 * had left its CPU: four times the mean over the stacks, by the kernel's count.
 */
static uint64_t most_missed(const struct workload *workload)
{
	uint64_t naps = 0, left = 0;

	for (size_t i = 0; i < workload->nr_truths; i++) {
		naps += workload->truths[i].count;
		left += workload->truths[i].voluntary;
	}
	return naps > left ? (naps - left) * 4 / 64 : 0;
}

CHECK_F(windows, each_of_the_stacks_has_its_own_blocks)
{
	struct session_filter filter = { .function = "wait_bottom", .user = self->user,
					 .states = "SD" };
	uint64_t blocks[64] = { 0 };

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];
		int path;

		if (!test_capture__matches(sample, &filter))
			continue;
		path = path_of_turns(sample, self->user, 6);
		ASSERT_LE(0, path)
		sample__print(sample, NULL, self->user);
		blocks[path] += sample->count;
	}
	/* Two threads, 20 rounds; a sleep that was cut short makes two blocks of one. */
	for (int i = 0; i < 64; i++) {
		EXPECT_LE(36, blocks[i] + most_missed(&self->workload));
		EXPECT_LE(blocks[i], 44);
	}
}

/* All that is checked in one recording. */
TEST_F(windows, of_any_length_have_the_same_blocks)
{
	SKIP_FOR(test_capture__refused());
	sums_do_not_depend_on_the_length_of_the_window(_metadata, self, variant);
	times_of_samples_lie_in_the_recording_and_in_their_window(_metadata, self, variant);
	each_of_the_stacks_has_its_own_blocks(_metadata, self, variant);
}

FIXTURE(fill)
{
	struct workload workload;
	struct test_capture test_capture;
};

FIXTURE_SETUP(fill)
{
	const char *const argv[] = { "stacks", "--wait", "--threads", "1", "--bits", "15", "--us",
				     tolerance__nap("20"), NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
}

FIXTURE_TEARDOWN(fill)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

TEST_F(fill, drain_is_wanted_before_the_window_is_full)
{
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = 500 * NSEC_PER_MSEC;
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_LT(0, self->test_capture.wanted_drains);
	EXPECT_EQ(0, self->test_capture.stats.lost_stack.count);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&self->test_capture.stats));
}

TEST_HARNESS_MAIN
