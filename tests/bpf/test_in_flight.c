/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that are still blocked when the recording ends, above all in a deadlock: users look for
 * these, and no context switch ever reports them.
 * tests: parallel
 */
#include "common/harness.h"

#include "base/clock.h"
#include "base/units.h"
#include "common/test_capture.h"

static const char *const names[] = { "lock-ab", "lock-ba", "sleeper" };

FIXTURE(in_flight)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
	struct symbols *kernel;
	struct capture_options options;
	pid_t tids[3];
	uint64_t asked;	  /* CLOCK_MONOTONIC: not blocked before */
	uint64_t blocked; /* blocked at this time */
};

FIXTURE_VARIANT(in_flight)
{
	uint64_t threshold_ns;
	bool before; /* blocked before the recording begins */
};

FIXTURE_VARIANT_ADD(in_flight, before_the_start_direct) { .before = true };
FIXTURE_VARIANT_ADD(in_flight, before_the_start_below_the_threshold)
{
	.before = true, .threshold_ns = 3600 * NSEC_PER_SEC,
};
FIXTURE_VARIANT_ADD(in_flight, in_the_recording_direct) { .before = false };
FIXTURE_VARIANT_ADD(in_flight, in_the_recording_below_the_threshold)
{
	.before = false, .threshold_ns = 3600 * NSEC_PER_SEC,
};

FIXTURE_SETUP(in_flight)
{
	const char *const argv[] = { "deadlock", variant->before ? NULL : "--wait", NULL };

	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = variant->threshold_ns;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	self->kernel = symbols__of_kernel();
	ASSERT_TRUE(self->user && self->kernel);
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	if (!variant->before) {
		self->asked = clock__now_ns();
		ASSERT_EQ(0, workload__go(&self->workload));
		ASSERT_EQ(0, workload__await(&self->workload, "BLOCKED"));
		self->blocked = clock__now_ns();
	}
	for (int i = 0; i < 3; i++)
		self->tids[i] = workload__thread(&self->workload, names[i]);
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 300));
	ASSERT_EQ(0, test_capture__drain(&self->test_capture));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
}

FIXTURE_TEARDOWN(in_flight)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
	symbols__free(self->kernel);
}

/* The one sample of a thread that says still_blocked; NULL if there is none or are two. */
static const struct sample *still_blocked(const struct test_capture *test_capture, pid_t tid)
{
	const struct sample *found = NULL;

	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (!sample->still_blocked || sample->tid != (uint32_t)tid)
			continue;
		if (found)
			return NULL;
		found = sample;
	}
	return found;
}

CHECK_F(in_flight, blocked_threads_are_reported_from_their_begin_to_the_end)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t begin = self->asked ? self->asked : stats->start_ns;
	uint64_t blocked = self->blocked ? self->blocked : stats->start_ns;

	ASSERT_LT(stats->start_ns, stats->end_ns);
	for (int i = 0; i < 3; i++) {
		const struct sample *sample = still_blocked(&self->test_capture, self->tids[i]);

		ASSERT_TRUE(sample != NULL)
		TH_LOG("%s", names[i]);
		EXPECT_EQ((uint32_t)self->workload.pid, sample->pid);
		EXPECT_EQ('S', sample->state);
		EXPECT_EQ(1, sample->count);
		EXPECT_LE(sample->time, stats->end_ns);
		EXPECT_LE(stats->start_ns, sample->time - sample->period);
		/* From a start or an end that is clipped, 1 % of the time may be missing. */
		EXPECT_LE((stats->end_ns - blocked) * 99 / 100, sample->period);
		EXPECT_LE(sample->period, stats->end_ns - begin);
	}
}

/*
 * As of a wait that has ended, where ORC rules are walked. The kernel's own walk of a task that
 * does not run leaves do_nanosleep out, a function of its scheduler section.
 */
static const char *sleeping_leaf(void)
{
#ifdef __x86_64__
	return "do_nanosleep";
#else
	return "hrtimer_nanosleep";
#endif
}

CHECK_F(in_flight, blocked_threads_have_kernel_and_user_stacks)
{
	for (int i = 0; i < 3; i++) {
		const struct sample *sample = still_blocked(&self->test_capture, self->tids[i]);
		const char *leaf;

		ASSERT_TRUE(sample != NULL)
		TH_LOG("%s", names[i]);
		leaf = frames__leaf(&sample->kernel, self->kernel);
		if (i < 2) {
			EXPECT_TRUE(!strncmp(leaf, "futex_", 6))
			TH_LOG("%s", leaf);
		} else {
			EXPECT_STREQ(sleeping_leaf(), leaf);
		}
		ASSERT_LT(0, sample->user.nr);
	}
	EXPECT_TRUE(frames__call(&still_blocked(&self->test_capture, self->tids[2])->user,
				 self->user, "wait_forever"));
	EXPECT_TRUE(frames__call(&still_blocked(&self->test_capture, self->tids[2])->user,
				 self->user, "start_sleeping"));
}

CHECK_F(in_flight, accounts_know_the_blocks_in_flight)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_tally sum = { 0 };

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		if (!self->test_capture.samples[i].still_blocked)
			continue;
		sum.count++;
		sum.ns += self->test_capture.samples[i].period;
	}
	/* The three, and the leader that waits for the test. */
	EXPECT_EQ(4, sum.count);
	EXPECT_EQ(stats->in_flight.count, sum.count);
	EXPECT_EQ(stats->in_flight.ns, sum.ns);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

/* never_ran is false for the block that began in the recording, true for those from before it. */
CHECK_F(in_flight, who_never_ran_in_the_recording_says_so)
{
	for (int i = 0; i < 3; i++) {
		const struct sample *sample = still_blocked(&self->test_capture, self->tids[i]);

		ASSERT_TRUE(sample != NULL);
		EXPECT_EQ(variant->before, sample->never_ran)
		TH_LOG("%s", names[i]);
	}
}

CHECK_F(in_flight, left_out_blocks_are_filtered_and_stay_in_the_accounts)
{
	struct capture_stats *stats = &self->test_capture.stats;
	struct session_filter all = { 0 };

	test_capture__free(&self->test_capture);
	self->options.filter.no_still_blocked = true;
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 50));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(0, test_capture__sum(&self->test_capture, &all).count);
	EXPECT_EQ(0, stats->in_flight.count);
	EXPECT_EQ(4, stats->filtered_blocked.count);
	EXPECT_LE(4 * 50 * NSEC_PER_MSEC, stats->filtered_blocked.ns);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

/* All that is checked in one recording; the last check makes another. */
TEST_F(in_flight, threads_that_are_still_blocked_are_in_the_recording)
{
	SKIP_FOR(test_capture__refused());
	blocked_threads_are_reported_from_their_begin_to_the_end(_metadata, self, variant);
	blocked_threads_have_kernel_and_user_stacks(_metadata, self, variant);
	accounts_know_the_blocks_in_flight(_metadata, self, variant);
	who_never_ran_in_the_recording_says_so(_metadata, self, variant);
	left_out_blocks_are_filtered_and_stay_in_the_accounts(_metadata, self, variant);
}

TEST_HARNESS_MAIN
