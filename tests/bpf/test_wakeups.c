/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that are split at their wake-up, and their wakers: the workload's wakers, and the
 * functions in which they wake, are known.
 * tests: parallel
 */
#include "common/harness.h"

#include <sched.h>

#include "base/units.h"
#include "bpf_skel/wire.h"
#include "common/test_capture.h"

/* The threads of the workload "wakes": two pairs, and the leader. */
#define THREADS 5

FIXTURE(wakeups)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
	struct symbols *kernel;
};

FIXTURE_VARIANT(wakeups)
{
	uint64_t threshold_ns;
};

FIXTURE_VARIANT_ADD(wakeups, threshold_0) { .threshold_ns = 0 };
FIXTURE_VARIANT_ADD(wakeups, threshold_500ms) { .threshold_ns = 500 * NSEC_PER_MSEC };

FIXTURE_SETUP(wakeups)
{
	const char *const argv[] = { "wakes", "--wait", "--count", "10", "--ms", "20", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	options.filter.states = capture__all_states();
	options.split_runqueue = true;
	options.wakers = true;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	self->kernel = symbols__of_kernel();
	ASSERT_TRUE(self->user && self->kernel);
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	ASSERT_EQ(4, self->workload.nr_truths);
}

/*
 * How many wake-ups may not have been shown: while a thread of process 1 is on a CPU, of each
 * thread the one by the timer that it armed there. It arms no second one before it has run, and
 * then it is on another CPU, or the time of the other is over.
 */
static uint64_t hidden_wakeups(const struct test_capture *test_capture)
{
	return THREADS * test_capture->init_stretches;
}

FIXTURE_TEARDOWN(wakeups)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
	symbols__free(self->kernel);
}

CHECK_F(wakeups, the_waker_is_named_with_its_function_and_the_time_that_it_ended)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct capture_tally sum = { 0 };

		for (size_t j = 0; j < self->test_capture.nr; j++) {
			const struct sample *sample = &self->test_capture.samples[j];

			if (sample->kind != SAMPLE_WAKEUP ||
			    !frames__call(&sample->user, self->user, truth->function))
				continue;
			EXPECT_EQ((uint32_t)truth->pid, sample->pid);
			EXPECT_EQ((uint32_t)truth->tid, sample->tid);
			EXPECT_EQ(0, sample->runqueue);
			sum.count += sample->count;
			sum.ns += sample->period;
		}
		if (truth->comm[0] == 'w') {
			EXPECT_EQ(0, sum.count);
			continue;
		}
		EXPECT_EQ(truth->count, sum.count);
		EXPECT_LE(truth->requested_ns * (100 - TOLERANCE_PERCENT) / 100, sum.ns);
		EXPECT_LE(sum.ns, truth->bracket_ns * (100 + TOLERANCE_PERCENT) / 100);
	}
}

/* The leaf is what called try_to_wake_up(): no program, no tracepoint, not the scheduler. */
CHECK_F(wakeups, the_leaf_of_a_waker_says_by_what_it_woke)
{
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];
		const char *leaf = frames__leaf(&sample->kernel, self->kernel);

		if (sample->kind != SAMPLE_WAKEUP)
			continue;
		if (frames__call(&sample->user, self->user, "wake_by_futex")) {
			EXPECT_STREQ("wake_up_q", leaf);
		} else {
			EXPECT_TRUE(strncmp(leaf, "bpf_", 4) && strcmp(leaf, "try_to_wake_up") &&
				    strncmp(leaf, "__traceiter", 11))
			TH_LOG("%s", leaf);
		}
	}
}

/* A frame of it is the function of a system call, with which chains begin. */
static bool in_system_call(const struct frames *frames, const struct symbols *kernel)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		const char *name = symbols__name(kernel, frames->ips[i]);

		if (name &&
		    (!strncmp(name, "__x64_sys_", 10) || !strncmp(name, "__arm64_sys_", 12)))
			return true;
	}
	return false;
}

static bool by_timer(const struct sample *sample, const struct symbols *kernel)
{
	return frames__call(&sample->kernel, kernel, "hrtimer_wakeup");
}

static bool is_nap(const struct sample *sample, const struct symbols *kernel)
{
	return sample->kind != SAMPLE_WAKEUP &&
	       !strcmp(frames__leaf(&sample->kernel, kernel), "do_nanosleep");
}

/*
 * The wakers sleep by timers: 20 ms, ten times each, and shorter while they look around. Some
 * machines hide interrupts while a thread of process 1 runs.
 */
CHECK_F(wakeups, what_a_timer_ends_is_laid_to_the_interrupt_and_to_no_thread)
{
	struct capture_tally timers = { 0 }, naps = { 0 };
	uint64_t asleep_ns = 0, threads_in_calls = 0;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		if (is_nap(sample, self->kernel)) {
			uint64_t ns = sample->period - sample->runqueue;

			/* A nap that begins late may be arbitrarily short. */
			asleep_ns += ns;
			naps.count += ns > TOLERANCE_SWITCH_NS ? sample->count : 0;
			naps.ns += ns > TOLERANCE_SWITCH_NS ? ns : 0;
		} else if (sample->kind == SAMPLE_WAKEUP && by_timer(sample, self->kernel)) {
			EXPECT_EQ(CAPTURE_PID_INTERRUPT, sample->pid);
			EXPECT_EQ(CAPTURE_PID_INTERRUPT, sample->tid);
			EXPECT_EQ(0, sample->user.nr);
			/*
			 * The chain of an interrupt leaves out the frames of the interrupted task.
			 */
			EXPECT_FALSE(frames__call(&sample->kernel, self->kernel, "do_idle"));
			EXPECT_FALSE(in_system_call(&sample->kernel, self->kernel));
			timers.count += sample->count;
			timers.ns += sample->period;
		} else if (sample->kind == SAMPLE_WAKEUP && sample->user.nr) {
			EXPECT_NE(CAPTURE_PID_INTERRUPT, sample->pid);
			threads_in_calls += in_system_call(&sample->kernel, self->kernel);
		}
	}
	/* Threads wake in system calls, so that those of an interrupt would be seen. */
	EXPECT_LT(0, threads_in_calls);
	EXPECT_LE(20, naps.count);
	EXPECT_LE(timers.ns, asleep_ns);
	if (!self->test_capture.init_stretches) {
		EXPECT_LE(naps.ns * (100 - TOLERANCE_PERCENT) / 100, timers.ns);
	} else if (!variant->threshold_ns) {
		EXPECT_LE(naps.count, timers.count + hidden_wakeups(&self->test_capture));
	}
}

static bool ends(const struct sample *wakeup, const struct sample *block)
{
	return wakeup->kind == SAMPLE_WAKEUP &&
	       wakeup->period == block->period - block->runqueue &&
	       wakeup->time - wakeup->period == block->time - block->period;
}

static size_t wakeups_of(const struct test_capture *test_capture, const struct sample *block)
{
	size_t nr = 0;

	for (size_t i = 0; i < test_capture->nr; i++)
		nr += ends(&test_capture->samples[i], block);
	return nr;
}

/* A wake-up sample has the begin and the length of the block that it ended, not its thread. */
CHECK_F(wakeups, each_block_has_the_wakeup_that_ended_it)
{
	uint64_t ended = 0, orphans = 0;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];
		size_t nr;

		if (sample->kind == SAMPLE_WAKEUP || sample->state == 'R' ||
		    sample->period == sample->runqueue)
			continue;
		nr = wakeups_of(&self->test_capture, sample);
		EXPECT_GE(1, nr);
		ended += nr;
		if (nr || sample->period - sample->runqueue <= TOLERANCE_SWITCH_NS)
			continue;
		orphans++;
		/* A wake-up that was not shown leaves its block whole. */
		EXPECT_EQ(0, sample->runqueue);
	}
	EXPECT_EQ(ended, self->test_capture.stats.wakeups.direct.count);
	EXPECT_LE(orphans, hidden_wakeups(&self->test_capture));
}

CHECK_F(wakeups, two_parts_make_the_block_and_the_first_is_what_wakers_ended)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t whole = 0, blocked = 0, woken = 0;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		ASSERT_LE(sample->runqueue, sample->period);
		if (sample->kind == SAMPLE_WAKEUP) {
			woken += sample->period;
			continue;
		}
		if (sample->state == 'R') {
			EXPECT_EQ(sample->period, sample->runqueue);
		}
		whole += sample->period;
		blocked += sample->period - sample->runqueue;
	}
	EXPECT_EQ(stats->direct.ns + stats->accumulated.ns + stats->in_flight.ns, whole);
	EXPECT_LT(blocked, whole);
	EXPECT_LE(woken, blocked);
	if (!self->test_capture.init_stretches) {
		EXPECT_LE(blocked * (100 - TOLERANCE_PERCENT) / 100, woken);
	}
}

CHECK_F(wakeups, accounts_of_wakeups_and_of_blocks_stay_apart_and_conserve)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	const struct capture_wakeups *wakeups = &stats->wakeups;
	struct capture_tally sum = { 0 };

	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		if (self->test_capture.samples[i].kind != SAMPLE_WAKEUP)
			continue;
		sum.count += self->test_capture.samples[i].count;
		sum.ns += self->test_capture.samples[i].period;
	}
	EXPECT_LE(40, wakeups->seen.count);
	EXPECT_EQ(wakeups->seen.count, wakeups->direct.count + wakeups->accumulated.count +
					       wakeups->filtered.count + wakeups->lost.count);
	EXPECT_EQ(sum.count, wakeups->direct.count + wakeups->accumulated.count);
	EXPECT_EQ(sum.ns, wakeups->direct.ns + wakeups->accumulated.ns);
	if (variant->threshold_ns) {
		EXPECT_LT(0, wakeups->accumulated.count);
	} else {
		EXPECT_EQ(0, wakeups->accumulated.count);
	}
}

/* All that is checked in one recording; of sums nobody knows the blocks. */
TEST_F(wakeups, blocks_are_split_at_their_wakeups_and_have_their_wakers)
{
	SKIP_FOR(test_capture__refused());
	the_waker_is_named_with_its_function_and_the_time_that_it_ended(_metadata, self, variant);
	the_leaf_of_a_waker_says_by_what_it_woke(_metadata, self, variant);
	what_a_timer_ends_is_laid_to_the_interrupt_and_to_no_thread(_metadata, self, variant);
	if (!variant->threshold_ns)
		each_block_has_the_wakeup_that_ended_it(_metadata, self, variant);
	two_parts_make_the_block_and_the_first_is_what_wakers_ended(_metadata, self, variant);
	accounts_of_wakeups_and_of_blocks_stay_apart_and_conserve(_metadata, self, variant);
}

static int record(struct test_capture *test_capture, struct workload *workload,
		  struct capture_options *options)
{
	const char *const argv[] = { "wakes", "--wait", "--count", "3", NULL };
	int err = workload__start(workload, argv);

	if (!err)
		err = workload__await(workload, "READY");
	if (!err)
		err = test_capture__open_process(test_capture, options, workload);
	if (!err)
		err = test_capture__run(test_capture, workload, 0);
	return err ? err : test_capture__close(test_capture);
}

TEST(without_the_options_there_are_no_wakers_and_blocks_are_whole)
{
	struct workload workload = { 0 };
	struct test_capture test_capture = { 0 };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	EXPECT_EQ(0, record(&test_capture, &workload, &options));
	EXPECT_LT(0, test_capture.nr);
	for (size_t i = 0; i < test_capture.nr; i++) {
		EXPECT_NE(SAMPLE_WAKEUP, test_capture.samples[i].kind);
		EXPECT_EQ(0, test_capture.samples[i].runqueue);
	}
	EXPECT_EQ(0, test_capture.stats.wakeups.seen.count);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

TEST(wakeups_that_end_less_than_min_block_are_filtered_with_their_blocks)
{
	struct workload workload = { 0 };
	struct test_capture test_capture = { 0 };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.wakers = true;
	options.filter.min_ns = 8 * NSEC_PER_MSEC;
	options.threshold_ns = 0;
	EXPECT_EQ(0, record(&test_capture, &workload, &options));
	EXPECT_LE(6, test_capture.stats.wakeups.direct.count);
	EXPECT_LT(0, test_capture.stats.wakeups.filtered.count);
	for (size_t i = 0; i < test_capture.nr; i++)
		EXPECT_LE(options.filter.min_ns, test_capture.samples[i].period);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

/* Threads that fight for a CPU are never blocked: all that they lose is runqueue time. */
TEST(preempted_threads_lose_runqueue_time_only)
{
	const char *const argv[] = { "preempt", "--wait", "--ms", "300", NULL };
	struct workload workload = { 0 };
	struct test_capture test_capture = { 0 };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.filter.states = capture__state_bit('R');
	options.split_runqueue = true;
	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&test_capture, &options, &workload));
	ASSERT_EQ(0, test_capture__run(&test_capture, &workload, 100));
	ASSERT_EQ(0, test_capture__close(&test_capture));
	for (size_t i = 0; i < workload.nr_truths; i++) {
		struct session_filter filter = { .tid = workload.truths[i].tid };
		struct capture_tally sum = test_capture__sum(&test_capture, &filter);

		EXPECT_LE(workload.truths[i].involuntary, sum.count);
		EXPECT_LT(0, sum.ns);
	}
	for (size_t i = 0; i < test_capture.nr; i++)
		EXPECT_EQ(test_capture.samples[i].period, test_capture.samples[i].runqueue);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

static const struct sample *still_blocked(const struct test_capture *test_capture, pid_t tid)
{
	for (size_t i = 0; i < test_capture->nr; i++) {
		if (test_capture->samples[i].still_blocked &&
		    test_capture->samples[i].tid == (uint32_t)tid)
			return &test_capture->samples[i];
	}
	return NULL;
}

/*
 * The block that a thread was in at the end. It may be back before the iterator finds it: the block
 * is cut there then.
 */
static const struct sample *blocked_at_end(const struct test_capture *test_capture, pid_t tid)
{
	const struct sample *sample = still_blocked(test_capture, tid);

	for (size_t i = 0; !sample && i < test_capture->nr; i++) {
		if (test_capture->samples[i].time == test_capture->stats.end_ns &&
		    test_capture->samples[i].tid == (uint32_t)tid)
			sample = &test_capture->samples[i];
	}
	return sample;
}

/*
 * Whether the starved thread had no CPU until that time. It may have had one before it was back
 * from its call, since the kernel takes the CPU from the hog for a moment each second.
 */
static bool starved_until(const struct workload *workload, uint64_t time)
{
	unsigned long long back, lost;

	return sscanf(workload->said, "BACK %llu %llu", &back, &lost) == 2 && !lost && back > time;
}

TEST(who_is_woken_and_gets_no_cpu_until_the_end_is_split_as_well)
{
	const char *const argv[] = { "starve", "--wait", NULL };
	const struct sched_param first = { .sched_priority = 2 }, normal = { 0 };
	struct workload workload = { 0 };
	struct test_capture test_capture = { 0 };
	struct capture_options options;
	const struct sample *sample;
	pid_t starved;
	int err;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.split_runqueue = true;
	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	starved = workload__thread(&workload, "starved");
	ASSERT_LT(0, starved);
	ASSERT_EQ(0, test_capture__open_process(&test_capture, &options, &workload));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &first));
	EXPECT_EQ(0, workload__go(&workload));
	EXPECT_EQ(0, workload__await(&workload, "HOGGING"));
	/* The clock of its run queue, by which it is known how long it has been queued, ticks. */
	EXPECT_EQ(0, test_capture__pass_time(&test_capture, 50));
	EXPECT_EQ(0, test_capture__close(&test_capture));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &normal));
	/* The hog may have given up by itself. */
	err = workload__go(&workload);
	ASSERT_TRUE(!err || err == -EPIPE);
	ASSERT_EQ(0, workload__finish(&workload));
	if (!starved_until(&workload, test_capture.stats.end_ns))
		SKIP(return, "this machine is too slow: it got a CPU before the end");
	sample = blocked_at_end(&test_capture, starved);
	ASSERT_TRUE(sample != NULL);
	EXPECT_EQ('S', sample->state);
	ASSERT_EQ(1, workload.nr_truths);
	EXPECT_LT(0, workload.truths[0].requested_ns);
	EXPECT_LE(workload.truths[0].requested_ns, sample->period - sample->runqueue);
	EXPECT_LT(0, sample->runqueue);
	/* The leader waits for the others and was never woken. */
	sample = blocked_at_end(&test_capture, workload.pid);
	ASSERT_TRUE(sample != NULL);
	EXPECT_EQ(0, sample->runqueue);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

TEST_HARNESS_MAIN
