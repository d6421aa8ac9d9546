/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of microseconds, for which the waiting thread's own clock is too coarse. How many
 * there were, the kernel's counts of context switches tell, exactly: they are read while
 * the threads sleep, before the first and after the last. How long they were, perf's
 * sched:sched_switch of the same run tells, of those threads of which it has each switch.
 */
#include "common/harness.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/units.h"
#include "bpf_skel/wire.h"
#include "common/observer.h"
#include "common/test_capture.h"
#include "common/tolerance.h"
#include "common/switches.h"

enum { LEADER, PING, PONG, NR_THREADS };

static const char *const thread_names[NR_THREADS] = { "short", "ping-0", "pong-0" };

FIXTURE(short_waits)
{
	struct workload workload;
	struct test_capture test_capture;
	struct observer observer;
	pid_t tids[NR_THREADS];
	struct switches switches[NR_THREADS]; /* in the recording, by the kernel's count */
	uint64_t stolen_ns; /* at most that much, meanwhile */
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

/* A player is a thread of the workload, or its child. It has its name before it waits. */
static int find_threads(FIXTURE_DATA(short_waits) * self)
{
	uint64_t limit = tolerance__deadline();
	pid_t leader = self->workload.pid;

	self->tids[LEADER] = leader;
	do {
		self->tids[PING] = workload__thread(&self->workload, "ping-0");
		self->tids[PONG] = workload__thread(&self->workload, "pong-0");
		if (!self->tids[PONG])
			self->tids[PONG] = switches__child(leader);
		if (self->tids[PING] && self->tids[PONG])
			return 0;
	} while (clock__now_ns() < limit);
	return -ESRCH;
}

static int count_switches(const FIXTURE_DATA(short_waits) * self, struct switches *counts)
{
	int err = 0;

	for (int i = 0; i < NR_THREADS && !err; i++)
		err = switches__of_sleeper(self->tids[i], &counts[i]);
	return err;
}

/* Says which step it was that failed: many of them share an error. */
static int step(const char *name, int err)
{
	if (err)
		fprintf(stderr, "# %s failed: %d (%s)\n", name, err, strerror(abs(err)));
	return err;
}

/*
 * All three sleep when the recording begins, and all three rest when it ends. So the blocks
 * that end in it are as many as those that begin between the two counts: the last one of
 * each thread is in flight, the first one was counted before.
 */
static int record_counted(FIXTURE_DATA(short_waits) * self, const struct capture_options *options)
{
	struct switches before[NR_THREADS];
	int err = step("counts before", count_switches(self, before));

	self->stolen_ns = tolerance__stolen_ns();
	if (!err)
		err = step("open", test_capture__open(&self->test_capture, options));
	if (!err)
		err = step("run", test_capture__run_until(&self->test_capture, &self->workload, 50,
						     "RESTING"));
	if (!err)
		err = step("counts after", count_switches(self, self->switches));
	if (!err)
		err = step("close", test_capture__close(&self->test_capture));
	self->stolen_ns = tolerance__stolen_since(self->stolen_ns);
	for (int i = 0; i < NR_THREADS; i++) {
		self->switches[i].voluntary -= before[i].voluntary;
		self->switches[i].involuntary -= before[i].involuntary;
	}
	return err;
}

static int record(FIXTURE_DATA(short_waits) * self, const FIXTURE_VARIANT(short_waits) * variant)
{
	/* So many that a tick, the grain of stolen time, is but some 6 % of what a player waits. */
	const char *const argv[] = { "short", "--wait",      "--hold",           "--rounds",
				     "8000",  "--processes", variant->processes, NULL };
	struct capture_options options;
	int err;

	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	options.filter.states = capture__all_states();
	options.targets.all = variant->all;
	options.filter.no_still_blocked = true;
	options.ring_pages = 2048;
	err = step("start of the workload", workload__start(&self->workload, argv));
	if (!err)
		err = step("its READY", workload__await(&self->workload, "READY"));
	if (!err)
		err = step("its threads", find_threads(self));
	if (!variant->all) {
		options.targets.pids = &self->workload.pid;
		options.targets.nr_pids = 1;
	}
	if (!err && !observer__refused())
		err = step("start of perf", observer__start(&self->observer));
	if (!err)
		err = record_counted(self, &options);
	if (!err && self->observer.perf)
		err = step("reading perf's", observer__stop(&self->observer));
	if (!err)
		err = step("letting the workload go", workload__go(&self->workload));
	return err ? err : step("its end", workload__finish(&self->workload));
}

FIXTURE_SETUP(short_waits)
{
	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, record(self, variant));
	ASSERT_EQ(2, self->workload.nr_truths);
}

FIXTURE_TEARDOWN(short_waits)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	observer__free(&self->observer);
}

static struct capture_tally recorded(const FIXTURE_DATA(short_waits) * self, int thread,
				     const char *states)
{
	struct session_filter filter = { .tid = self->tids[thread], .states = states };

	return test_capture__sum(&self->test_capture, &filter);
}

/* A switch that was not shown is a block less, and counted; in the default way there is none. */
CHECK_F(short_waits, each_thread_has_as_many_blocks_as_the_kernel_counted)
{
	uint64_t unseen = self->test_capture.stats.unseen_switches, missing = 0;

	EXPECT_LE(unseen, test_capture__hidden(&self->test_capture));
	for (int i = 0; i < NR_THREADS; i++) {
		uint64_t waits = recorded(self, i, "SDTtP?").count;
		uint64_t rest = recorded(self, i, "R").count;

		EXPECT_LE(waits, self->switches[i].voluntary)
		TH_LOG("%s", thread_names[i]);
		EXPECT_LE(rest, self->switches[i].involuntary)
		TH_LOG("%s", thread_names[i]);
		missing += self->switches[i].voluntary - waits;
		missing += self->switches[i].involuntary - rest;
		if (i != LEADER) {
			EXPECT_LT(1000, self->switches[i].voluntary);
		}
	}
	EXPECT_LE(missing, unseen);
	if (!variant->all) {
		EXPECT_EQ(missing, unseen);
	}
}

CHECK_F(short_waits, seen_is_what_the_kernel_counted_and_nothing_is_lost)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t counted = 0;

	for (int i = 0; i < NR_THREADS; i++)
		counted += self->switches[i].voluntary + self->switches[i].involuntary;
	EXPECT_EQ(NR_THREADS, stats->filtered_blocked.count);
	EXPECT_EQ(counted, stats->seen.count - stats->filtered_blocked.count +
				   stats->unseen_switches);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
}

static struct observed observed(const FIXTURE_DATA(short_waits) * self, int thread,
				const char *states)
{
	const struct capture_stats *stats = &self->test_capture.stats;

	return observer__blocks(&self->observer, self->tids[thread], stats->start_ns,
				stats->end_ns, states);
}

/* Why perf is no truth about a thread, or NULL: it is if it counts what the kernel does. */
static const char *why_no_truth(const FIXTURE_DATA(short_waits) * self, int thread, char *text,
				size_t size)
{
	const struct switches *switches = &self->switches[thread];
	struct observed waits = observed(self, thread, " S D ");
	struct observed rest = observed(self, thread, " R R+ ");

	if (waits.count == switches->voluntary && rest.count == switches->involuntary)
		return NULL;
	snprintf(text, size, "%s: perf has %" PRIu64 " + %" PRIu64 " switches of %" PRIu64
		 " + %" PRIu64 " (%" PRIu64 " records lost): no truth about times",
		 thread_names[thread], waits.count, rest.count, switches->voluntary,
		 switches->involuntary, self->observer.lost);
	return text;
}

/*
 * The two stamp a switch one after the other, half a us apart, which leaves a mean of 0.3 %. If
 * the machine is not given its CPU just then, all of that is in the block of one of them: as
 * much as was stolen, at most.
 */
static void expect_same(struct __test_metadata *_metadata, const char *what,
			struct capture_tally sum, struct observed truth, uint64_t stolen_ns)
{
	EXPECT_EQ(truth.count, sum.count)
	TH_LOG("%s", what);
	/* An interrupt between the two observers is no error of either: few blocks, no mean. */
	if (truth.count < 1000)
		return;
	EXPECT_LE(truth.ns * 99 / 100, sum.ns + stolen_ns)
	TH_LOG("%s", what);
	EXPECT_LE(sum.ns, truth.ns * 101 / 100 + stolen_ns)
	TH_LOG("%s", what);
}

static int compare_time(const void *a, const void *b)
{
	const struct sample *x = *(const struct sample *const *)a;
	const struct sample *y = *(const struct sample *const *)b;

	return (x->time > y->time) - (x->time < y->time);
}

/* The waits of a thread that has count of them, each a sample, in the order of their ends. */
static const struct sample **list_waits(const FIXTURE_DATA(short_waits) * self, int thread,
					uint64_t count)
{
	struct session_filter filter = { .tid = self->tids[thread], .states = "SD" };
	const struct sample **waits = calloc(count + 1, sizeof(const struct sample *));
	size_t nr = 0;

	for (size_t i = 0; waits && i < self->test_capture.nr && nr < count; i++) {
		if (test_capture__matches(&self->test_capture.samples[i], &filter))
			waits[nr++] = &self->test_capture.samples[i];
	}
	if (waits)
		qsort(waits, nr, sizeof(const struct sample *), compare_time);
	return waits;
}

/*
 * Block by block: most are the same to 1 % in their sum, without any allowance. The others are
 * those that differ by more than two stamps in a row ever do if nothing comes between, and what
 * comes between is known.
 */
static void expect_same_blocks(struct __test_metadata *_metadata,
			       const FIXTURE_DATA(short_waits) * self, int thread)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t count = self->switches[thread].voluntary, odd_ns = 0;
	uint64_t *theirs = calloc(count + 1, sizeof(*theirs));
	const struct sample **ours = list_waits(self, thread, count);
	int64_t more = 0, sum = 0;

	ASSERT_TRUE(theirs && ours && (!count || ours[count - 1]));
	observer__list(&self->observer, self->tids[thread], stats->start_ns, stats->end_ns, " S D ",
		       theirs, count);
	for (size_t i = 0; i < count; i++) {
		int64_t difference = (int64_t)(ours[i]->period - theirs[i]);

		sum += (int64_t)theirs[i];
		if ((uint64_t)llabs(difference) > TOLERANCE_SWITCH_NS)
			odd_ns += (uint64_t)llabs(difference);
		else
			more += difference;
	}
	EXPECT_LE(llabs(more), sum / 100)
	TH_LOG("%s", thread_names[thread]);
	EXPECT_LE(odd_ns, self->stolen_ns)
	TH_LOG("%s", thread_names[thread]);
	free(theirs);
	free(ours);
}

CHECK_F(short_waits, times_are_those_of_the_second_observer)
{
	char text[160] = "";
	int compared = 0;

	for (int i = PING; i < NR_THREADS; i++) {
		if (self->test_capture.stats.unseen_switches ||
		    why_no_truth(self, i, text, sizeof(text)))
			continue;
		expect_same(_metadata, thread_names[i], recorded(self, i, "SD"),
			    observed(self, i, " S D "), self->stolen_ns);
		expect_same(_metadata, thread_names[i], recorded(self, i, "R"),
			    observed(self, i, " R R+ "), self->stolen_ns);
		if (!variant->threshold_ns)
			expect_same_blocks(_metadata, self, i);
		compared++;
	}
	if (!compared)
		TH_LOG("not compared: %s", text[0] ? text : "switches were not shown");
}

/* All that is checked in one recording. The whole machine's threads are not known one by one. */
TEST_F(short_waits, blocks_and_their_times_are_what_the_kernel_and_perf_count)
{
	SKIP_FOR(test_capture__refused());
	each_thread_has_as_many_blocks_as_the_kernel_counted(_metadata, self, variant);
	if (!variant->all)
		seen_is_what_the_kernel_counted_and_nothing_is_lost(_metadata, self, variant);
	if (!observer__refused())
		times_are_those_of_the_second_observer(_metadata, self, variant);
}

/* A skip tells that no times are compared. */
TEST(there_is_a_second_observer)
{
	SKIP_FOR(observer__refused());
}

TEST_HARNESS_MAIN
