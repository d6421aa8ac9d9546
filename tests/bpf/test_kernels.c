/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The features in which kernels differ most, in two short recordings: wake-ups, system calls,
 * births. Suits slow guests: waits are long, counts are compared with the kernel's own, and blocks
 * with the wake-ups that ended them.
 * tests: parallel
 */
#include "common/harness.h"

#include <errno.h>

#include "common/test_capture.h"

FIXTURE(kernels)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
	struct capture_options options;
};

FIXTURE_SETUP(kernels)
{
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
	self->options.ring_pages = 1024;
}

FIXTURE_TEARDOWN(kernels)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
}

static int record(FIXTURE_DATA(kernels) * self, const char *const *argv)
{
	int err = workload__start(&self->workload, argv);

	if (!err)
		err = workload__await(&self->workload, "READY");
	self->user = symbols__of_process(self->workload.pid);
	if (!err && !self->user)
		err = -ENOENT;
	if (!err)
		err = test_capture__open_process(&self->test_capture, &self->options,
						 &self->workload);
	if (!err)
		err = test_capture__run(&self->test_capture, &self->workload, 0);
	return err ? err : test_capture__close(&self->test_capture);
}

/* The wake-up that ended a block has the same begin, and is as long as it was blocked. */
static const struct sample *wakeup_of(const struct test_capture *test_capture,
				      const struct sample *block)
{
	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (sample->kind == SAMPLE_WAKEUP &&
		    sample->period == block->period - block->runqueue &&
		    sample->time - sample->period == block->time - block->period)
			return sample;
	}
	return NULL;
}

/* Blocks of the waiter in its waiting function whose waker and system call are right. */
static uint64_t right_blocks(const FIXTURE_DATA(kernels) * self, const char *hook,
			     const char *const *names, const char *call)
{
	const struct truth *waker = workload__truth(&self->workload, names[1]);
	struct session_filter filter = { .states = "S", .user = self->user };
	uint64_t nr = 0;

	filter.tid = workload__truth(&self->workload, names[0])->tid;
	filter.function = hook;
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i], *wakeup;

		if (sample->kind == SAMPLE_WAKEUP || !test_capture__matches(sample, &filter))
			continue;
		wakeup = wakeup_of(&self->test_capture, sample);
		if (!wakeup || wakeup->tid != (uint32_t)waker->tid ||
		    !frames__call(&wakeup->user, self->user, waker->function) ||
		    !sample->reason || strcmp(sample->reason->call, call)) {
			sample__print(sample, NULL, self->user);
			continue;
		}
		nr++;
	}
	return nr;
}

TEST_F(kernels, blocks_have_their_wakers_and_their_system_calls)
{
	const char *const argv[] = { "wakes", "--wait", "--count", "5", "--ms", "60", NULL };
	const char *const futex[] = { "w-futex", "k-futex" };
	const char *const pipe[] = { "w-pipe", "k-pipe" };
	const struct capture_stats *stats = &self->test_capture.stats;

	SKIP_FOR(test_capture__refused());
	self->options.filter.states = capture__all_states();
	self->options.split_runqueue = true;
	self->options.wakers = true;
	self->options.reasons = true;
	ASSERT_EQ(0, record(self, argv));
	ASSERT_EQ(4, self->workload.nr_truths);
	EXPECT_LE(workload__truth(&self->workload, "w-futex")->count,
		  right_blocks(self, "wait_for_futex", futex, "futex"));
	EXPECT_LE(workload__truth(&self->workload, "w-pipe")->count,
		  right_blocks(self, "wait_for_pipe", pipe, "read"));
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
	EXPECT_EQ(0, stats->unseen_switches);
	EXPECT_EQ(stats->wakeups.seen.count, stats->wakeups.direct.count +
						     stats->wakeups.accumulated.count +
						     stats->wakeups.filtered.count +
						     stats->wakeups.lost.count);
}

/*
 * A thread whose birth was not shown, or met another one on its CPU, has none of its blocks: all
 * that are missing are of no more threads than such births.
 */
static uint64_t incomplete(const FIXTURE_DATA(kernels) * self, const char *around)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		/* The thread may wait for a page beside its sleep. */
		struct session_filter filter = { .pid = truth->pid, .tid = truth->tid,
						 .states = "SD", .function = around,
						 .user = self->user };

		nr += test_capture__sum(&self->test_capture, &filter).count < truth->voluntary;
	}
	return nr;
}

TEST_F(kernels, each_child_has_the_blocks_that_the_kernel_counted)
{
	const char *const argv[] = { "forks", "--wait", "--count", "8", "--us", "60000", NULL };
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t counted = 0;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, record(self, argv));
	ASSERT_EQ(8, self->workload.nr_truths);
	for (size_t i = 0; i < 8; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .pid = truth->pid, .tid = truth->tid,
						 .states = "SD", .function = "wait_once",
						 .user = self->user };
		struct capture_tally sum = test_capture__sum(&self->test_capture, &filter);

		EXPECT_LE(sum.count, truth->voluntary);
		EXPECT_LE(sum.ns, truth->bracket_ns);
		counted += truth->voluntary;
	}
	EXPECT_LT(0, counted);
	EXPECT_LE(incomplete(self, "sleep_and_exit"), stats->unseen_births);
	EXPECT_EQ(0, stats->unseen_switches);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
}

/* Where tracepoints are preemptible, births and deaths meet on a CPU; they are no switches. */
TEST_F(kernels, threads_that_come_and_go_at_once_are_no_unseen_switches)
{
	const char *const argv[] = { "threads", "--wait",     "--count", "3000", "--us",
				     "50",      "--parallel", "8",       NULL };
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t counted = 0;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, record(self, argv));
	ASSERT_EQ(3000, self->workload.nr_truths);
	for (size_t i = 0; i < self->workload.nr_truths; i++)
		counted += self->workload.truths[i].voluntary;
	/* A timer may be over before its thread has gone to sleep. */
	EXPECT_LT(0, counted);
	EXPECT_LE(incomplete(self, "start_sleeping"), stats->unseen_births);
	EXPECT_EQ(0, stats->unseen_switches);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	if (stats->unseen_switches)
		stats__print(stats);
}

TEST_HARNESS_MAIN
