/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of tens of milliseconds, whose length the waiting threads measure themselves: the
 * recorded time lies between what they asked for and what they measured around it.
 * tests: parallel
 */
#include "common/harness.h"

#include "base/units.h"
#include "common/test_capture.h"

FIXTURE(waits)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
	struct symbols *kernel;
};

FIXTURE_VARIANT(waits)
{
	uint64_t threshold_ns;
};

FIXTURE_VARIANT_ADD(waits, threshold_0) { .threshold_ns = 0 };
FIXTURE_VARIANT_ADD(waits, threshold_1ms) { .threshold_ns = NSEC_PER_MSEC };
FIXTURE_VARIANT_ADD(waits, threshold_500ms) { .threshold_ns = 500 * NSEC_PER_MSEC };

FIXTURE_SETUP(waits)
{
	const char *const argv[] = { "waits", "--wait", "--count", "10", "--ms", "20", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.threshold_ns = variant->threshold_ns;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	self->kernel = symbols__of_kernel();
	ASSERT_TRUE(self->user && self->kernel);
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	ASSERT_EQ(6, self->workload.nr_truths);
}

FIXTURE_TEARDOWN(waits)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
	symbols__free(self->kernel);
}

/* Where the chain through libc is not known, all sleeps of the thread are meant. */
static struct session_filter waits_of(const struct truth *truth, const struct symbols *user)
{
	struct session_filter filter = {
		.pid = truth->pid,
		.tid = truth->tid,
		.states = "SD",
		.function = strcmp(truth->function, "-") ? truth->function : NULL,
		.user = user,
	};

	return filter;
}

CHECK_F(waits, requested_is_at_most_recorded_and_that_at_most_the_bracket)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = waits_of(truth, self->user);
		struct capture_tally sum = test_capture__sum(&self->test_capture, &filter);

		/* A block whose end was not shown is missing, and counted. */
		if (!self->test_capture.stats.unseen_switches) {
			EXPECT_LE(truth->requested_ns * (100 - TOLERANCE_PERCENT) / 100, sum.ns)
			TH_LOG("%s", truth->comm);
		}
		if (!filter.function)
			continue;
		EXPECT_LE(sum.ns, truth->bracket_ns * (100 + TOLERANCE_PERCENT) / 100)
		TH_LOG("%s", truth->comm);
	}
}

CHECK_F(waits, each_wait_is_one_block)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = waits_of(truth, self->user);
		struct capture_tally sum = test_capture__sum(&self->test_capture, &filter);

		/* A timer may be over before its thread has gone: then there is no block. */
		if (strcmp(truth->what, "nanosleep")) {
			EXPECT_LE(truth->count,
				  sum.count + self->test_capture.stats.unseen_switches)
			TH_LOG("%s", truth->comm);
		}
		if (!filter.function)
			continue;
		/*
		 * The thread may wait for a page beside the known wait. Blocks whose end was not
		 * shown are counted.
		 */
		EXPECT_LE(sum.count, truth->voluntary)
		TH_LOG("%s", truth->comm);
		filter.function = "start_waiting";
		sum = test_capture__sum(&self->test_capture, &filter);
		EXPECT_LE(truth->voluntary, sum.count + self->test_capture.stats.unseen_switches)
		TH_LOG("%s", truth->comm);
	}
}

CHECK_F(waits, pid_and_tid_of_threads_that_do_not_lead_are_right)
{
	size_t known = 0;

	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		EXPECT_EQ((uint32_t)self->workload.pid, sample->pid);
		EXPECT_FALSE(sample->kthread);
		for (size_t j = 0; j < self->workload.nr_truths; j++) {
			const struct truth *truth = &self->workload.truths[j];

			if (!frames__call(&sample->user, self->user, truth->function))
				continue;
			known++;
			EXPECT_EQ((uint32_t)truth->tid, sample->tid);
			EXPECT_NE(sample->pid, sample->tid);
		}
	}
	EXPECT_LE(5, known);
}

/* The user chain: three known functions, one calling the next, the innermost first. */
static bool user_chain_is_known(const struct sample *sample, const struct truth *truth,
				const struct symbols *user)
{
	const char *const chain[] = { truth->function, "repeat_wait", "start_waiting" };

	for (uint32_t i = 0; i < 3; i++) {
		const char *name;

		if (i >= sample->user.nr)
			return false;
		name = symbols__name(user, sample->user.ips[i]);
		if (!name || strcmp(name, chain[i]))
			return false;
	}
	return true;
}

/* Kernels have renamed some of these; a leaf is one of the names that it has had. */
static bool leaf_is_known(const char *what, const char *leaf)
{
	static const struct {
		const char *what;
		const char *leaves[4];
	} known[] = {
		{ "nanosleep", { "do_nanosleep" } },
		{ "futex", { "futex_wait_queue", "futex_wait_queue_me", "futex_do_wait" } },
		{ "sem", { "futex_wait_queue", "futex_wait_queue_me", "futex_do_wait" } },
		{ "pipe", { "pipe_read", "anon_pipe_read", "pipe_wait_readable" } },
		{ "poll", { "schedule_hrtimeout_range_clock", "schedule_hrtimeout_range",
			    "poll_schedule_timeout", "do_sys_poll" } },
		{ "epoll", { "schedule_hrtimeout_range_clock", "schedule_hrtimeout_range",
			     "ep_poll", "do_epoll_wait" } },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		for (size_t j = 0; j < 4 && known[i].leaves[j]; j++) {
			/* The compiler may have cut a part off: "pipe_read.part.0". */
			size_t len = strlen(known[i].leaves[j]);

			if (!strcmp(what, known[i].what) &&
			    !strncmp(leaf, known[i].leaves[j], len) &&
			    (!leaf[len] || leaf[len] == '.'))
				return true;
		}
	}
	return false;
}

CHECK_F(waits, chain_has_the_known_functions_and_the_kernel_leaf_that_waits)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = waits_of(truth, self->user);
		size_t found = 0;

		if (!filter.function)
			continue;
		/* A missing page makes the thread wait as well, elsewhere in the kernel. */
		filter.states = "S";
		for (size_t j = 0; j < self->test_capture.nr; j++) {
			const struct sample *sample = &self->test_capture.samples[j];
			bool known;

			if (!test_capture__matches(sample, &filter))
				continue;
			found++;
			known = leaf_is_known(truth->what,
					      frames__leaf(&sample->kernel, self->kernel)) &&
				user_chain_is_known(sample, truth, self->user);
			EXPECT_TRUE(known);
			if (!known)
				sample__print(sample, self->kernel, self->user);
		}
		EXPECT_LT(0, found)
		TH_LOG("%s: no sample", truth->comm);
	}
}

/* Prefixes: compilers put words such as ".constprop.0" behind some of these names. */
static bool is_syscall_entry(const char *name)
{
	static const char *const entries[] = { "entry_SYSCALL_64", "do_syscall_64", "x64_sys_call",
					       "el0t_64_sync",     "el0_svc",       "do_el0_svc",
					       "invoke_syscall" };

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (!strncmp(name, entries[i], strlen(entries[i])))
			return true;
	}
	return false;
}

CHECK_F(waits, no_chain_has_the_entry_of_its_system_call)
{
	struct session_filter filter = { .states = "S", .user = self->user };
	size_t found = 0;

	filter.function = "start_waiting";
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];
		size_t entries = 0;

		if (!test_capture__matches(sample, &filter))
			continue;
		found++;
		for (uint32_t j = 0; j < sample->kernel.nr; j++) {
			const char *name = symbols__name(self->kernel, sample->kernel.ips[j]);

			entries += name && is_syscall_entry(name);
		}
		EXPECT_EQ(0, entries);
		if (entries)
			sample__print(sample, self->kernel, self->user);
	}
	EXPECT_LT(0, found);
}

/* The length of a nap is not known in advance, and decides alone which blocks are samples. */
CHECK_F(waits, threshold_says_which_blocks_are_samples_of_their_own)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	uint64_t own = 0, sums = 0, summed = 0;
	const struct truth *truth;

	truth = workload__truth(&self->workload, "w-nanosleep");
	ASSERT_TRUE(truth != NULL);
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		if (!frames__call(&sample->user, self->user, "wait_nanosleep") ||
		    sample->state != 'S')
			continue;
		if (sample->period >= variant->threshold_ns * sample->count) {
			EXPECT_EQ(1, sample->count);
			own++;
		} else {
			sums++;
			summed += sample->count;
		}
	}
	EXPECT_LT(0, own + summed);
	EXPECT_LE(own + summed, truth->voluntary);
	if (!variant->threshold_ns) {
		EXPECT_EQ(0, stats->accumulated.count);
	} else if (variant->threshold_ns < 20 * NSEC_PER_MSEC) {
		EXPECT_LT(0, own);
	} else {
		EXPECT_LT(0, summed);
		/*
		 * One for each window, as the stack is one, and one with the frames from before
		 * the tables of libraries came. Blocks that met no table come one by one.
		 */
		EXPECT_LE(sums, stats->windows + 1 + 2 + stats->copies);
	}
}

CHECK_F(waits, samples_add_up_to_the_accounts_and_no_block_is_lost)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct session_filter any = { 0 };
	struct capture_tally sum = test_capture__sum(&self->test_capture, &any);

	EXPECT_EQ(stats->direct.count + stats->accumulated.count + stats->in_flight.count,
		  sum.count);
	EXPECT_EQ(stats->direct.ns + stats->accumulated.ns + stats->in_flight.ns, sum.ns);
	EXPECT_EQ(0, stats->lost_ring.count + stats->lost_internal.count);
	EXPECT_LE(stats->unseen_switches, test_capture__hidden(&self->test_capture));
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

/* All that is checked in one recording: each takes some seconds in a guest. */
TEST_F(waits, a_recording_is_what_the_threads_measured)
{
	SKIP_FOR(test_capture__refused());
	requested_is_at_most_recorded_and_that_at_most_the_bracket(_metadata, self, variant);
	each_wait_is_one_block(_metadata, self, variant);
	pid_and_tid_of_threads_that_do_not_lead_are_right(_metadata, self, variant);
	chain_has_the_known_functions_and_the_kernel_leaf_that_waits(_metadata, self, variant);
	no_chain_has_the_entry_of_its_system_call(_metadata, self, variant);
	threshold_says_which_blocks_are_samples_of_their_own(_metadata, self, variant);
	samples_add_up_to_the_accounts_and_no_block_is_lost(_metadata, self, variant);
}

TEST_HARNESS_MAIN
