/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running, runnable and blocked time of a thread is its life in the recording: to the nanosecond in
 * the accounts and in the samples, and as the kernel's own accounts and the thread have it.
 */
#include "common/harness.h"

#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/observer.h"
#include "common/test_capture.h"

/* Sums of the samples of one thread, or of all threads. */
struct parts {
	uint64_t running;
	uint64_t queued;
	uint64_t blocked;
	uint64_t looks;
};

static struct parts parts_of(const struct test_capture *test_capture, pid_t tid)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (tid && (pid_t)sample->tid != tid)
			continue;
		if (sample->kind == SAMPLE_ONCPU) {
			parts.running += sample->period;
			parts.looks += sample->count;
		} else {
			parts.queued += sample->runqueue;
			parts.blocked += sample->period - sample->runqueue;
		}
	}
	return parts;
}

static uint64_t all_of(const struct parts *parts)
{
	return parts->running + parts->queued + parts->blocked;
}

static void take_all(struct capture_options *options)
{
	capture_options__init(options);
	options->on_cpu = (struct capture_on_cpu){ .clock = CAPTURE_CLOCK_CPU, .freq = 199 };
	options->split_runqueue = true;
	options->filter.states = capture__all_states();
}

FIXTURE(running)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
};

FIXTURE_VARIANT(running)
{
	uint64_t threshold_ns;
	uint64_t period_ns;
	enum attach_hook hook;
};

FIXTURE_VARIANT_ADD(running, in_sums) { .threshold_ns = 500 * NSEC_PER_MSEC };
FIXTURE_VARIANT_ADD(running, each_block) { .threshold_ns = 0 };
FIXTURE_VARIANT_ADD(running, sampled)
{
	.threshold_ns = 500 * NSEC_PER_MSEC, .period_ns = 10 * NSEC_PER_MSEC,
};
FIXTURE_VARIANT_ADD(running, at_switch_out)
{
	.threshold_ns = 500 * NSEC_PER_MSEC, .hook = ATTACH_HOOK_SWITCH_OUT,
};

FIXTURE_SETUP(running)
{
	const char *const argv[] = { "lives", "--wait", "--ms", "400", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	take_all(&options);
	options.threshold_ns = variant->threshold_ns;
	options.period_ns = variant->period_ns;
	options.stacks.hook = variant->hook;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_TRUE(self->user != NULL);
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	ASSERT_EQ(12, self->workload.nr_truths);
}

FIXTURE_TEARDOWN(running)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
}

CHECK_F(running, expect_conserved)
{
	const struct capture_lives *lives = &self->test_capture.stats.lives;
	struct parts parts = parts_of(&self->test_capture, 0);

	/* Some machines hide the switch from a thread of process 1 to another thread. */
	ASSERT_LE(lives->uneven, self->test_capture.init_stretches);
	EXPECT_EQ(lives->uneven != 0, lives->unaccounted_ns != 0);
	EXPECT_EQ(0, lives->lost);
	/* At switch-out, such a switch hides the end of a block as well. */
	if (!self->test_capture.init_stretches)
		EXPECT_EQ(0, lives->filtered_ns);
	/* The main thread is one of them. */
	EXPECT_EQ(13, lives->count);
	EXPECT_EQ(lives->ns, lives->running_ns + lives->queued_ns + lives->blocked_ns +
				     lives->unaccounted_ns + lives->filtered_ns);
	EXPECT_EQ(lives->running_ns, parts.running);
	if (!variant->period_ns) {
		EXPECT_EQ(lives->queued_ns, parts.queued);
		EXPECT_EQ(lives->blocked_ns, parts.blocked);
	}
}

/*
 * The kernel's figures exclude stolen time, and are read before the thread's exit path. Its clock
 * and ours are read at different places of a switch.
 */
CHECK_F(running, expect_as_the_kernel_has_it)
{
	uint64_t clocks = 0, running = 0;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct parts parts = parts_of(&self->test_capture, truth->tid);
		uint64_t cpu = truth->requested_ns, delay = truth->count;
		uint64_t hidden = self->test_capture.stats.lives.unaccounted_ns;
		uint64_t nr = truth->voluntary + truth->involuntary + 1;

		clocks += cpu;
		running += parts.running;
		EXPECT_LT(0, parts.running);
		EXPECT_LE(cpu, parts.running + hidden + tolerance__account_ns(cpu, nr));
		if (!variant->period_ns && !hidden)
			EXPECT_LE(delay, parts.queued + tolerance__account_ns(delay, nr));
		/* A thread cannot have run for longer than its life without its waits for a CPU. */
		EXPECT_LE(parts.running,
			  truth->bracket_ns - delay + delay / 100 + tolerance__preempted_ns());
		if (!variant->period_ns)
			EXPECT_LE(all_of(&parts), truth->bracket_ns + tolerance__preempted_ns());
	}
	/*
	 * The threads' errors cancel out in the sum; a thread may run on after reading its clock.
	 */
	EXPECT_LE(clocks - clocks * TOLERANCE_PERCENT / 100,
		  running + self->test_capture.stats.lives.unaccounted_ns);
}

/* Only a thread that no look has met has time without frames. */
CHECK_F(running, samples_tell_where_the_time_went)
{
	uint64_t spinning = 0, running = 0;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		if (sample->kind != SAMPLE_ONCPU)
			continue;
		running += sample->period;
		EXPECT_EQ(sample->not_sampled, sample->count == 0);
		EXPECT_EQ(sample->not_sampled, !sample->user.nr && !sample->kernel.nr);
		EXPECT_EQ(sample->period, sample->measured);
		/* The clock that spin() reads has no frame pointer, and hides it. */
		if (frames__call(&sample->user, self->user, "live"))
			spinning += sample->period;
	}
	/* Three of the threads do nothing else; in an emulated guest interrupts take as long. */
	EXPECT_LT(running / 4, spinning);
	EXPECT_LT(0, self->test_capture.stats.lives.looks);
}

/* All that is checked in one recording. */
TEST_F(running, lives_are_the_sum_of_their_parts_and_samples_tell_where_the_time_went)
{
	SKIP_FOR(test_capture__refused());
	expect_conserved(_metadata, self, variant);
	expect_as_the_kernel_has_it(_metadata, self, variant);
	samples_tell_where_the_time_went(_metadata, self, variant);
}

/* CPU time of a process so far, as its own clock has it. */
static uint64_t cpu_clock_of(pid_t pid)
{
	struct timespec time = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

/*
 * A thread that never leaves its CPU is in each window, and at the end, which it does not reach.
 * How much of a CPU it gets depends on the load: its clock tells.
 */
TEST(a_thread_that_runs_through_is_in_all_windows)
{
	const char *const argv[] = { "lives", "--wait", "--ms", "60000", "--brief", "0", NULL };
	struct test_capture test_capture = { 0 };
	struct capture_options options;
	struct workload workload = { 0 };
	struct parts before = { 0 }, after;
	uint64_t start, clock;

	SKIP_FOR(test_capture__refused());
	take_all(&options);
	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&test_capture, &options, &workload));
	start = cpu_clock_of(workload.pid);
	ASSERT_LT(0, start);
	ASSERT_EQ(0, workload__go(&workload));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, test_capture__pass_time(&test_capture, 100));
		clock = cpu_clock_of(workload.pid) - start;
		ASSERT_EQ(0, test_capture__drain(&test_capture));
		after = parts_of(&test_capture, 0);
		EXPECT_LT(before.running, after.running);
		/* Its napper is woken, and so charged before it has a CPU, a hundred times. */
		EXPECT_LE(clock, after.running + tolerance__account_ns(clock, 200 * (i + 1)));
		before = after;
	}
	ASSERT_EQ(0, test_capture__close(&test_capture));
	after = parts_of(&test_capture, 0);
	EXPECT_EQ(0, test_capture.stats.lives.unaccounted_ns);
	EXPECT_EQ(5, test_capture.stats.lives.count);
	EXPECT_EQ(test_capture.stats.lives.ns, test_capture.stats.lives.running_ns +
						       test_capture.stats.lives.queued_ns +
						       test_capture.stats.lives.blocked_ns);
	/* The recording may count a switch that was in progress at its end as a little longer. */
	EXPECT_LE(test_capture.stats.lives.running_ns, after.running);
	EXPECT_LE(after.running, test_capture.stats.lives.running_ns + TOLERANCE_MOMENT_NS);
	test_capture__free(&test_capture);
	workload__free(&workload);
}

/* Recordings end at any moment of threads that switch all the time: all figures end at one time. */
TEST(a_recording_ends_at_one_moment)
{
	const char *const argv[] = { "convoy", "--wait",    "--threads", "4",
				     "--rounds", "100000000", NULL };
	struct capture_options options;
	struct workload workload = { 0 };
	uint64_t until;

	SKIP_FOR(test_capture__refused());
	take_all(&options);
	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	ASSERT_EQ(0, workload__go(&workload));
	/* Fewer in a guest, where one takes seconds. */
	until = clock__now_ns() + 10 * NSEC_PER_SEC;
	for (int i = 0; i < (tolerance__whole() ? 20 : 8) && clock__now_ns() < until; i++) {
		struct test_capture test_capture = { 0 };
		const struct capture_lives *lives = &test_capture.stats.lives;

		ASSERT_EQ(0, test_capture__open_process(&test_capture, &options, &workload));
		ASSERT_EQ(0, test_capture__pass_time(&test_capture, 20));
		ASSERT_EQ(0, test_capture__close(&test_capture));
		EXPECT_EQ(5, lives->count);
		EXPECT_EQ(0, lives->unaccounted_ns);
		EXPECT_EQ(lives->ns, lives->running_ns + lives->queued_ns + lives->blocked_ns);
		test_capture__free(&test_capture);
	}
	workload__free(&workload);
}

/* Records the threads of lives beside perf. 0 or -errno. */
static int record_observed(struct workload *workload, struct test_capture *test_capture,
			   struct observer *observer)
{
	const char *const argv[] = { "lives", "--wait", "--ms", "300", NULL };
	struct capture_options options;
	int err;

	take_all(&options);
	err = workload__start(workload, argv);
	if (!err)
		err = workload__await(workload, "READY");
	if (!err)
		err = observer__start(observer);
	if (!err)
		err = test_capture__open_process(test_capture, &options, workload);
	if (!err)
		err = test_capture__run(test_capture, workload, 100);
	if (!err)
		err = test_capture__close(test_capture);
	return err ? err : observer__stop(observer);
}

/*
 * The scheduler's clocks charge a thread for more or less than its time on a CPU, see
 * tolerance__account_ns(). The switches tell, and both observers see the same ones, one after the
 * other: where a virtual machine loses its CPU in between, the time is another thread's for one of
 * them.
 */
TEST(running_time_is_what_perf_makes_of_the_switches)
{
	struct test_capture test_capture = { 0 };
	struct workload workload = { 0 };
	struct observer observer = { 0 };
	uint64_t stolen = tolerance__stolen_ns();
	size_t compared = 0;

	SKIP_FOR(test_capture__refused());
	SKIP_FOR(observer__refused());
	ASSERT_EQ(0, record_observed(&workload, &test_capture, &observer));
	ASSERT_EQ(12, workload.nr_truths);
	stolen = tolerance__between_hooks_ns(tolerance__stolen_since(stolen));
	for (size_t i = 0; i < workload.nr_truths; i++) {
		pid_t tid = workload.truths[i].tid;
		struct observed truth = observer__running(&observer, tid);
		uint64_t running = parts_of(&test_capture, tid).running;
		uint64_t slack = truth.count * TOLERANCE_SWITCH_NS + NSEC_PER_MSEC + stolen;

		/* perf has lost a switch, or this machine did not show it. */
		if (truth.torn)
			continue;
		compared++;
		EXPECT_LE(running, truth.ns + slack)
		TH_LOG("%s", workload.truths[i].comm);
		EXPECT_LE(truth.ns, running + slack + test_capture.stats.lives.unaccounted_ns)
		TH_LOG("%s", workload.truths[i].comm);
	}
	TH_LOG("%zu of %zu threads compared", compared, workload.nr_truths);
	if (!observer.lost && !test_capture.init_stretches) {
		EXPECT_EQ(workload.nr_truths, compared);
	}
	test_capture__free(&test_capture);
	workload__free(&workload);
	observer__free(&observer);
}

TEST_HARNESS_MAIN
