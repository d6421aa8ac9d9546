/* SPDX-License-Identifier: GPL-2.0-only */
/* The EXIT of a first thread stands where its process ends. */
#include "common/harness.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "output/perfdata/layout.h"
#include "machine/leader_exit.h"

#define PID 5

struct record {
	struct layout_task task;
	struct layout_sample_id id;
};

struct given {
	struct record records[8];
	uint64_t times[8];
	size_t nr;
};

FIXTURE(leader_exits)
{
	struct leader_exits leader_exits;
	struct given given;
};

FIXTURE_SETUP(leader_exits)
{
	ASSERT_EQ(0, leader_exits__add(&self->leader_exits, PID, PID));
	ASSERT_EQ(0, leader_exits__add(&self->leader_exits, PID, PID + 1));
}

FIXTURE_TEARDOWN(leader_exits)
{
	leader_exits__free(&self->leader_exits);
}

static int take(void *ctx, const void *event, size_t size, uint64_t time)
{
	struct given *given = ctx;

	if (size > sizeof(struct record) || given->nr == 8)
		return -EINVAL;
	memcpy(&given->records[given->nr], event, size);
	given->times[given->nr++] = time;
	return 0;
}

static int tell(struct leader_exits *leader_exits, struct given *given, uint32_t type, uint32_t tid,
		uint64_t time)
{
	struct record record = {
		.task = { .header = { type, 0, sizeof(record) }, .pid = PID, .tid = tid,
			  .ppid = PID, .ptid = PID, .time = time },
		.id = { .pid = PID, .tid = tid, .time = time, .cpu = 1, .id = 77 },
	};

	return leader_exits__follow(leader_exits, &record, sizeof(record), time, take, given);
}

static int exec(struct leader_exits *leader_exits, struct given *given, uint64_t time)
{
	struct layout_comm comm = {
		.header = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) },
		.pid = PID,
		.tid = PID,
	};

	return leader_exits__follow(leader_exits, &comm, sizeof(comm), time, take, given);
}

TEST_F(leader_exits, one_that_ends_before_another_comes_behind_the_last)
{
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 100));
	EXPECT_EQ(0, self->given.nr);
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_FORK, PID + 2, 110));
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID + 1, 120));
	EXPECT_EQ(2, self->given.nr);
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID + 2, 130));
	ASSERT_EQ(4, self->given.nr);
	EXPECT_EQ(PID + 2, self->given.records[2].task.tid);
	EXPECT_EQ(PID, self->given.records[3].task.tid);
	EXPECT_EQ(130, self->given.records[3].task.time);
	EXPECT_EQ(130, self->given.records[3].id.time);
	EXPECT_EQ(130, self->given.times[3]);
	EXPECT_EQ(77, self->given.records[3].id.id);
}

TEST_F(leader_exits, one_that_ends_last_is_handed_on_at_once)
{
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID + 1, 100));
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 110));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(110, self->given.records[1].task.time);
}

TEST_F(leader_exits, an_exec_by_another_thread_is_no_end_but_the_end_after_it_is)
{
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 100));
	ASSERT_EQ(0, exec(&self->leader_exits, &self->given, 110));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(PERF_RECORD_COMM, self->given.records[0].task.header.type);
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 120));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(120, self->given.records[1].task.time);
}

TEST_F(leader_exits, a_new_process_of_the_same_id_owes_nothing_to_the_one_before)
{
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 100));
	/* The end of the other thread was lost. */
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_FORK, PID, 110));
	ASSERT_EQ(0, tell(&self->leader_exits, &self->given, PERF_RECORD_EXIT, PID, 120));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(PERF_RECORD_FORK, self->given.records[0].task.header.type);
	EXPECT_EQ(120, self->given.records[1].task.time);
}

TEST_F(leader_exits, one_whose_process_nobody_told_of_is_handed_on_at_once)
{
	struct leader_exits none = { 0 };

	ASSERT_EQ(0, tell(&none, &self->given, PERF_RECORD_EXIT, PID, 100));
	EXPECT_EQ(1, self->given.nr);
	leader_exits__free(&none);
}

TEST_HARNESS_MAIN
