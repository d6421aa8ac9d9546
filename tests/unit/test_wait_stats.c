/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/wait_stats.h"

#include <stdio.h>

#include "common/harness.h"
#include "common/machine_events.h"
#include "sample.h"

FIXTURE(wait_stats)
{
	struct machine *machine;
	struct wait_stats stats;
};

FIXTURE_SETUP(wait_stats)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	self->stats = (struct wait_stats){ 0 };
	for (pid_t tid = 10; tid < 14; tid++) {
		born(self->machine, 10, tid, 1, 100);
		is_called(self->machine, 10, tid, tid == 13 ? "log\nger" : "worker", 100);
	}
}

FIXTURE_TEARDOWN(wait_stats)
{
	wait_stats__free(&self->stats);
	machine__delete(self->machine);
}

static int waits(struct wait_stats *stats, const struct machine *machine, uint32_t tid,
		 const char *call, uint64_t ns)
{
	const struct sample sample = {
		.pid = 10, .tid = tid, .call = call, .time = 200, .period = ns
	};

	return wait_stats__add(stats, machine, &sample);
}

TEST_F(wait_stats, threads_of_one_name_are_added_up_by_call)
{
	static const char call[] = "fdatasync", other[] = "epoll_wait";
	struct wait_stats_row most;

	EXPECT_EQ(0, wait_stats__end(&self->stats).most.ns);
	EXPECT_EQ(0, waits(&self->stats, self->machine, 13, call, 50));
	EXPECT_EQ(0, waits(&self->stats, self->machine, 10, other, 59));
	for (uint32_t tid = 10; tid < 13; tid++) {
		EXPECT_EQ(0, waits(&self->stats, self->machine, tid, call, 15));
		EXPECT_EQ(0, waits(&self->stats, self->machine, tid, call, 5));
	}
	most = wait_stats__end(&self->stats).most;
	EXPECT_STREQ("worker", most.comm);
	EXPECT_STREQ("fdatasync", most.call);
	EXPECT_EQ(60, most.ns);
}

TEST_F(wait_stats, threads_that_never_ran_and_unknown_calls_and_threads_are_left_out)
{
	const struct sample never = { .pid = 10,
				      .tid = 10,
				      .call = "futex",
				      .time = 200,
				      .period = 1000,
				      .never_ran = true };
	struct wait_stats_row most;

	EXPECT_EQ(0, wait_stats__add(&self->stats, self->machine, &never));
	EXPECT_EQ(0, waits(&self->stats, self->machine, 10, NULL, 1000));
	EXPECT_EQ(0, waits(&self->stats, self->machine, 99, "read", 1000));
	EXPECT_EQ(0, waits(&self->stats, self->machine, 13, "read", 1));
	most = wait_stats__end(&self->stats).most;
	EXPECT_EQ(1, most.ns);
	/* As a terminal may see it. */
	EXPECT_STREQ("log\\x0ager", most.comm);
}

static int waits_for_disk(struct wait_stats *stats, const struct machine *machine,
			  struct sample sample)
{
	sample.pid = 10;
	sample.time = 200;
	sample.state = 'D';
	return wait_stats__add(stats, machine, &sample);
}

TEST_F(wait_stats, uninterruptible_waits_are_counted_of_threads_that_never_ran_too)
{
	static const char call[] = "fdatasync", other[] = "epoll_wait";
	struct wait_stats_result result;

	EXPECT_EQ(0, waits(&self->stats, self->machine, 10, other, 1000));
	EXPECT_EQ(0, waits_for_disk(&self->stats, self->machine,
				    (struct sample){
					    .tid = 10, .call = call, .period = 9, .runqueue = 2 }));
	EXPECT_EQ(0, waits_for_disk(
			     &self->stats, self->machine,
			     (struct sample){
				     .tid = 11, .call = call, .period = 5, .never_ran = true }));
	EXPECT_EQ(0, waits_for_disk(&self->stats, self->machine,
				    (struct sample){ .tid = 13, .period = 11 }));
	EXPECT_EQ(0, waits_for_disk(&self->stats, self->machine,
				    (struct sample){ .tid = 12, .period = 99, .kthread = true }));
	result = wait_stats__end(&self->stats);
	EXPECT_STREQ("epoll_wait", result.most.call);
	EXPECT_EQ(1000, result.most.ns);
	EXPECT_EQ(23, result.uninterruptible);
	EXPECT_STREQ("worker", result.most_uninterruptible.comm);
	EXPECT_STREQ("fdatasync", result.most_uninterruptible.call);
	EXPECT_EQ(12, result.most_uninterruptible.uninterruptible);
	EXPECT_EQ(9, result.most_uninterruptible.ns);
}

TEST_F(wait_stats, a_thread_that_runs_another_program_has_its_name)
{
	static const char call[] = "read";
	struct wait_stats_result result;

	EXPECT_EQ(0, waits(&self->stats, self->machine, 10, call, 1));
	is_called(self->machine, 10, 10, "dd", 150);
	EXPECT_EQ(0, waits(&self->stats, self->machine, 10, call, 50));
	result = wait_stats__end(&self->stats);
	EXPECT_STREQ("dd", result.most.comm);
	EXPECT_EQ(50, result.most.ns);
}

TEST_F(wait_stats, nothing_is_known_without_room_for_all)
{
	char name[16];
	static const char call[] = "read";

	for (pid_t tid = 100; tid < 100 + WAIT_STATS_ROWS + 10; tid++) {
		born(self->machine, 10, tid, 1, 100);
		snprintf(name, sizeof(name), "t%d", (int)tid);
		is_called(self->machine, 10, tid, name, 100);
		ASSERT_EQ(0, waits(&self->stats, self->machine, (uint32_t)tid, call, 1));
	}
	EXPECT_EQ(0, wait_stats__end(&self->stats).most.ns);
}

TEST_HARNESS_MAIN
