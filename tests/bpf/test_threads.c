/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads and processes that come and go during the recording: each has the one block that it
 * reports, and no sample belongs to a thread that did not exist.
 */
#include "common/harness.h"

#include "base/units.h"
#include "bpf_skel/wire.h"
#include "common/test_capture.h"
#include "common/tolerance.h"

FIXTURE(threads)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
	pid_t leader;
	uint64_t stolen_ns; /* at most that much, while it was recorded */
};

FIXTURE_VARIANT(threads)
{
	const char *name;
	const char *count;
	uint64_t threshold_ns;
	const char *around; /* the function whose switches are counted, around the wait */
};

FIXTURE_VARIANT_ADD(threads, direct) { "threads", "1000", 0, "start_sleeping" };
FIXTURE_VARIANT_ADD(threads, accumulated)
{
	"threads", "1000", 500 * NSEC_PER_MSEC, "start_sleeping"
};
FIXTURE_VARIANT_ADD(threads, of_many_processes)
{
	"forks", "300", 500 * NSEC_PER_MSEC, "sleep_and_exit"
};

FIXTURE_SETUP(threads)
{
	const char *const argv[] = { variant->name,  "--wait", "--us", "10000", "--count",
				     variant->count, NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	options.filter.states = (1U << WIRE_STATE_MAX) - 1;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->leader = self->workload.pid;
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_TRUE(self->user != NULL);
	self->stolen_ns = tolerance__stolen_ns();
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 200));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	self->stolen_ns = tolerance__stolen_since(self->stolen_ns);
	ASSERT_EQ(strtoul(variant->count, NULL, 10), self->workload.nr_truths);
}

FIXTURE_TEARDOWN(threads)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
}

CHECK_F(threads, each_thread_has_the_blocks_that_the_kernel_counted)
{
	size_t none = 0;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .pid = truth->pid, .tid = truth->tid,
						 .states = "SD", .function = "wait_once",
						 .user = self->user };

		ASSERT_LE(test_capture__sum(&self->test_capture, &filter).count, truth->voluntary);
		/* The thread may wait for a page beside its sleep. */
		filter.function = variant->around;
		ASSERT_LE(truth->voluntary, test_capture__sum(&self->test_capture, &filter).count);
		none += !truth->voluntary;
	}
	/* A timer can be over before its thread has gone to sleep, but not as a rule. */
	EXPECT_LT(none, self->workload.nr_truths / 10);
}

/*
 * Time off the CPU is compared with the thread's own wall and CPU clocks. Stolen time may be
 * missing: the kernel does not charge it to the thread, which was on its CPU, and reports it in
 * ticks.
 */
CHECK_F(threads, each_threads_time_is_what_it_was_not_on_the_cpu_of_its_wait)
{
	uint64_t missing = 0, sum = 0;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .pid = truth->pid, .tid = truth->tid,
						 .states = "SDR", .function = "wait_once",
						 .user = self->user };
		uint64_t ns = test_capture__sum(&self->test_capture, &filter).ns;

		ASSERT_LE(ns, truth->bracket_ns);
		sum += truth->requested_ns;
		if (ns < truth->requested_ns)
			missing += truth->requested_ns - ns;
	}
	EXPECT_LE(missing, self->stolen_ns + sum / 1000 + tolerance__untold_ns(sum));
}

static bool is_known(const struct workload *workload, uint32_t tid)
{
	for (size_t i = 0; i < workload->nr_truths; i++) {
		if (workload->truths[i].tid == (pid_t)tid)
			return true;
	}
	return tid == (uint32_t)workload->truths[0].pid;
}

CHECK_F(threads, no_block_is_invented)
{
	const struct capture_stats *stats = &self->test_capture.stats;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		ASSERT_TRUE(sample->tid == (uint32_t)self->leader ||
			    is_known(&self->workload, sample->tid));
		ASSERT_LE(sample->period, stats->end_ns - stats->start_ns);
		ASSERT_LE(stats->start_ns, sample->time);
		ASSERT_LE(sample->time, stats->end_ns);
		ASSERT_EQ(0, sample->still_blocked);
	}
	EXPECT_EQ(0, stats->in_flight.count);
	EXPECT_EQ(0, stats->unseen_switches);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

/* All that is checked in one recording. */
TEST_F(threads, each_has_the_blocks_of_its_life_and_no_other)
{
	SKIP_FOR(test_capture__refused());
	each_thread_has_the_blocks_that_the_kernel_counted(_metadata, self, variant);
	each_threads_time_is_what_it_was_not_on_the_cpu_of_its_wait(_metadata, self, variant);
	no_block_is_invented(_metadata, self, variant);
}

TEST_HARNESS_MAIN
