/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that threads wait for a CPU is counted whatever is recorded: in total and for each thread,
 * as the kernel's own accounts have it.
 */
#include "common/harness.h"

#include "base/units.h"
#include "common/test_capture.h"

FIXTURE(runnable)
{
	struct workload workload;
	struct test_capture test_capture;
	const struct thread_waits *threads;
	size_t nr;
};

FIXTURE_VARIANT(runnable)
{
	bool wakers; /* blocks are split by stamps, which must change nothing here */
};

FIXTURE_VARIANT_ADD(runnable, by_default) { .wakers = false };
FIXTURE_VARIANT_ADD(runnable, with_wakers) { .wakers = true };

FIXTURE_SETUP(runnable)
{
	const char *const argv[] = { "queued", "--wait", "--ms", "300", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.wakers = variant->wakers;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(3, self->workload.nr_truths);
	ASSERT_EQ(0, capture__stop(self->test_capture.capture, 1000));
	self->threads = capture__waiting_threads(self->test_capture.capture, &self->nr);
	ASSERT_EQ(0, capture__stats(self->test_capture.capture, &self->test_capture.stats));
}

FIXTURE_TEARDOWN(runnable)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

static const struct thread_waits *find(const struct thread_waits *threads, size_t nr,
					 const struct truth *truth)
{
	for (size_t i = 0; i < nr; i++) {
		if (threads[i].tid == truth->tid)
			return &threads[i];
	}
	return NULL;
}

CHECK_F(runnable, each_thread_waited_as_long_as_schedstat_says)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		const struct thread_waits *thread = find(self->threads, self->nr, truth);

		ASSERT_TRUE(thread != NULL);
		EXPECT_EQ(truth->pid, thread->pid);
		EXPECT_STREQ(truth->comm, thread->comm);
		EXPECT_EQ(0, thread->throttled_ns);
		EXPECT_LE(truth->requested_ns, thread->runnable_ns);
		/* A joined thread may still wait for a CPU once more, to leave its last one. */
		EXPECT_LE(thread->runnable_ns, truth->bracket_ns + tolerance__preempted_ns());
	}
}

/* Of the three, two are never blocked; the third is woken and then waits within its blocks. */
CHECK_F(runnable, the_total_is_that_of_the_threads_and_tells_what_no_sample_has)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t sum = 0, spinners = 0, sleeper = 0;

	for (size_t i = 0; i < self->nr; i++) {
		sum += self->threads[i].runnable_ns;
		if (strncmp(self->threads[i].comm, "spinner", 7))
			sleeper += self->threads[i].runnable_ns;
		else
			spinners += self->threads[i].runnable_ns;
	}
	EXPECT_LE(sum, stats->runnable_ns);
	/* A thread that ends with less than is worth a record is in the total only. */
	EXPECT_LT(stats->runnable_ns, sum + NSEC_PER_MSEC);
	EXPECT_LT(0, sleeper);
	EXPECT_LE(stats->preempted_ns, stats->runnable_ns);
	/* A spinner sleeps at the gate and at its end only. */
	EXPECT_LT(spinners / 2, stats->preempted_ns);
	EXPECT_EQ(0, stats->throttled_ns);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ(0, self->test_capture.samples[i].runqueue);
}

/* Both that is checked in one recording. */
TEST_F(runnable, waits_for_a_cpu_are_in_the_accounts_of_threads_and_in_the_total)
{
	SKIP_FOR(test_capture__refused());
	each_thread_waited_as_long_as_schedstat_says(_metadata, self, variant);
	the_total_is_that_of_the_threads_and_tells_what_no_sample_has(_metadata, self, variant);
}

/* A block is split without a wake-up hook, too: the sleeper's timers end its blocks late. */
TEST(a_split_needs_no_hook_at_wakeups)
{
	const char *const argv[] = { "queued", "--wait", "--ms", "300", NULL };
	struct test_capture test_capture = { 0 };
	struct workload workload = { 0 };
	struct capture_options options;
	uint64_t waited = 0;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.split_runqueue = true;
	options.filter.states = capture__all_states();
	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&test_capture, &options, &workload));
	ASSERT_EQ(0, test_capture__run(&test_capture, &workload, 100));
	ASSERT_EQ(0, test_capture__close(&test_capture));
	for (size_t i = 0; i < test_capture.nr; i++)
		waited += test_capture.samples[i].runqueue;
	EXPECT_EQ(0, test_capture.stats.wakeups.missed);
	/* Two clocks. Only first waits of new threads are in no block; no thread is born here. */
	EXPECT_LE(test_capture.stats.runnable_ns * 9 / 10, waited + TOLERANCE_TICK_NS);
	EXPECT_LE(waited, test_capture.stats.runnable_ns * 11 / 10 + TOLERANCE_TICK_NS);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

TEST_HARNESS_MAIN
