/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of microseconds, for which the waiting thread's own clock is too coarse. perf's
 * sched:sched_switch of the same run is the truth, and the kernel's counts of context
 * switches are the truth about perf.
 */
#include "common/harness.h"

#include "base/units.h"
#include "bpf_skel/wire.h"
#include "common/observer.h"
#include "common/session.h"

FIXTURE(short_waits)
{
	struct workload workload;
	struct session session;
	struct observer observer;
	pid_t leader;
};

FIXTURE_VARIANT(short_waits)
{
	uint64_t threshold_ns;
	bool all;
	const char *processes;
};

FIXTURE_VARIANT_ADD(short_waits, accumulated){
	.threshold_ns = 500 * NSEC_PER_MSEC,
	.processes = "0",
};
FIXTURE_VARIANT_ADD(short_waits, direct){
	.threshold_ns = 0,
	.processes = "0",
};
FIXTURE_VARIANT_ADD(short_waits, accumulated_in_two_processes){
	.threshold_ns = 500 * NSEC_PER_MSEC,
	.all = true,
	.processes = "1",
};

/* True if perf noticed every switch of the threads in question. */
static bool observer_is_whole(const FIXTURE_DATA(short_waits) * self)
{
	struct observed seen;

	if (self->observer.lost)
		return false;
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		seen = observer__blocks(&self->observer, self->workload.truths[i].tid, 0,
					UINT64_MAX, NULL);
		if (seen.torn)
			return false;
	}
	return true;
}

static const char *why_skip(const FIXTURE_DATA(short_waits) * self)
{
	if (session__refused())
		return session__refused();
	if (observer__refused())
		return observer__refused();
	return observer_is_whole(self) ? NULL : "perf missed switches: no truth to compare with";
}

static void forget(FIXTURE_DATA(short_waits) * self)
{
	session__free(&self->session);
	workload__free(&self->workload);
	observer__free(&self->observer);
}

static int record(FIXTURE_DATA(short_waits) * self, const FIXTURE_VARIANT(short_waits) * variant)
{
	const char *const argv[] = { "short",       "--wait",           "--rounds", "4000",
				     "--processes", variant->processes, NULL };
	struct capture_options options;
	int err;

	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	options.states = (1U << WIRE_STATE_MAX) - 1;
	options.all = variant->all;
	options.ring_pages = 2048;
	err = workload__start(&self->workload, argv);
	if (!err)
		err = workload__await(&self->workload, "READY");
	self->leader = self->workload.pid;
	if (!variant->all) {
		options.pids = &self->leader;
		options.nr_pids = 1;
	}
	if (!err)
		err = observer__start(&self->observer);
	if (!err)
		err = session__open(&self->session, &options);
	if (!err)
		err = session__run(&self->session, &self->workload, 50);
	if (!err)
		err = session__close(&self->session);
	return err ? err : observer__stop(&self->observer);
}

/* Whether both count the same blocks of each thread, those of the whole recording. */
static bool counts_agree(const FIXTURE_DATA(short_waits) * self)
{
	const struct capture_stats *stats = &self->session.stats;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		pid_t tid = self->workload.truths[i].tid;
		struct session_filter filter = { .tid = tid, .states = "SD" };

		if (session__sum(&self->session, &filter).count !=
		    observer__blocks(&self->observer, tid, stats->start_ns, stats->end_ns, " S D ")
			    .count)
			return false;
	}
	return true;
}

/*
 * perf does miss a switch now and then, also a pair of them that leaves no trace: no reason
 * to learn nothing. A defect of ours would have to hide in each of the tries.
 */
FIXTURE_SETUP(short_waits)
{
	SKIP_FOR(session__refused());
	SKIP_FOR(observer__refused());
	for (int i = 0; i < 5; i++) {
		forget(self);
		ASSERT_EQ(0, record(self, variant));
		ASSERT_EQ(2, self->workload.nr_truths);
		if (observer_is_whole(self) && counts_agree(self))
			break;
	}
}

FIXTURE_TEARDOWN(short_waits)
{
	forget(self);
}

/* The threads sleep at the gate and at their end, too, so perf sees a few more. */
TEST_F(short_waits, second_observer_agrees_with_the_kernels_counts)
{
	SKIP_FOR(why_skip(self));
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct observed seen =
			observer__blocks(&self->observer, truth->tid, 0, UINT64_MAX, " S D ");

		EXPECT_LE(truth->voluntary, seen.count);
		EXPECT_LE(seen.count, truth->voluntary + 10);
		EXPECT_LT(1000, seen.count);
	}
}

static void expect_same(struct __test_metadata *_metadata, const char *what,
			struct capture_tally sum, struct observed truth)
{
	EXPECT_EQ(truth.count, sum.count)
	TH_LOG("%s", what);
	/* An interrupt between the two observers is no error of either: few blocks, no mean. */
	if (truth.count < 1000)
		return;
	EXPECT_LE(truth.ns * 99 / 100, sum.ns)
	TH_LOG("%s", what);
	EXPECT_LE(sum.ns, truth.ns * 101 / 100)
	TH_LOG("%s", what);
}

TEST_F(short_waits, count_and_time_per_thread_are_those_of_the_second_observer)
{
	const struct capture_stats *stats = &self->session.stats;

	SKIP_FOR(why_skip(self));
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .tid = truth->tid, .states = "SD" };

		expect_same(_metadata, truth->comm, session__sum(&self->session, &filter),
			    observer__blocks(&self->observer, truth->tid, stats->start_ns,
					     stats->end_ns, " S D "));
	}
}

TEST_F(short_waits, runnable_time_per_thread_is_that_of_the_second_observer)
{
	const struct capture_stats *stats = &self->session.stats;

	SKIP_FOR(why_skip(self));
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .tid = truth->tid, .states = "R" };

		expect_same(_metadata, truth->comm, session__sum(&self->session, &filter),
			    observer__blocks(&self->observer, truth->tid, stats->start_ns,
					     stats->end_ns, " R R+ "));
	}
}

TEST_F(short_waits, seen_is_what_the_second_observer_saw)
{
	const struct capture_stats *stats = &self->session.stats;
	struct capture_tally seen = stats->seen;
	struct observed truth;

	SKIP_FOR(why_skip(self));
	if (variant->all)
		SKIP(return, "the whole machine's threads are not known one by one");
	truth = observer__blocks(&self->observer, self->leader, stats->start_ns, stats->end_ns,
				 NULL);
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		struct observed thread =
			observer__blocks(&self->observer, self->workload.truths[i].tid,
					 stats->start_ns, stats->end_ns, NULL);

		truth.count += thread.count;
		truth.ns += thread.ns;
	}
	seen.count -= stats->in_flight.count;
	seen.ns -= stats->in_flight.ns;
	expect_same(_metadata, "all threads", seen, truth);
	EXPECT_EQ(0, stats->unseen_switches);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
}

TEST_HARNESS_MAIN
