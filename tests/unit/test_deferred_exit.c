/* SPDX-License-Identifier: GPL-2.0-only */
/* EXIT records wait until no sample of their task can come any more. */
#include "common/harness.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "output/perfdata/layout.h"
#include "machine/deferred_exit.h"

struct record {
	struct layout_task task;
	struct layout_sample_id id;
};

struct given {
	struct record records[8];
	size_t nr;
	int result;
};

static int take(void *ctx, const void *event, size_t size)
{
	struct given *given = ctx;

	if (size != sizeof(struct record) || given->nr == 8)
		return -EINVAL;
	memcpy(&given->records[given->nr++], event, size);
	return given->result;
}

static int hold(struct deferred_exit *deferred_exit, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct record record = {
		.task = { .header = { PERF_RECORD_EXIT, 0, sizeof(record) }, .pid = pid, .tid = tid,
			  .ppid = 1, .ptid = 2, .time = time },
		.id = { .pid = pid, .tid = tid, .time = time, .cpu = 1, .id = 77 },
	};

	return deferred_exit__hold(deferred_exit, &record, sizeof(record));
}

TEST(an_exit_comes_a_whole_window_later_with_the_time_of_then)
{
	struct deferred_exit deferred_exit = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, hold(&deferred_exit, 5, 6, 100));
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 200, take, &given));
	EXPECT_EQ(0, given.nr);
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 300, take, &given));
	ASSERT_EQ(1, given.nr);
	EXPECT_EQ(PERF_RECORD_EXIT, given.records[0].task.header.type);
	EXPECT_EQ(5, given.records[0].task.pid);
	EXPECT_EQ(6, given.records[0].task.tid);
	EXPECT_EQ(1, given.records[0].task.ppid);
	EXPECT_EQ(2, given.records[0].task.ptid);
	EXPECT_EQ(300, given.records[0].task.time);
	EXPECT_EQ(300, given.records[0].id.time);
	EXPECT_EQ(77, given.records[0].id.id);
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 400, take, &given));
	EXPECT_EQ(1, given.nr);
	deferred_exit__free(&deferred_exit);
}

TEST(an_id_that_is_used_again_has_no_late_exit)
{
	struct deferred_exit deferred_exit = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, hold(&deferred_exit, 5, 5, 100));
	ASSERT_EQ(0, hold(&deferred_exit, 8, 8, 101));
	deferred_exit__forked(&deferred_exit, 5);
	deferred_exit__forked(&deferred_exit, 99);
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 200, take, &given));
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 300, take, &given));
	ASSERT_EQ(1, given.nr);
	EXPECT_EQ(8, given.records[0].task.pid);
	deferred_exit__free(&deferred_exit);
}

TEST(of_two_lives_of_one_id_only_the_last_exit_counts)
{
	struct deferred_exit deferred_exit = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, hold(&deferred_exit, 5, 5, 100));
	deferred_exit__forked(&deferred_exit, 5);
	ASSERT_EQ(0, hold(&deferred_exit, 5, 5, 150));
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 200, take, &given));
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 300, take, &given));
	EXPECT_EQ(1, given.nr);
	deferred_exit__free(&deferred_exit);
}

TEST(a_record_of_another_size_is_refused_and_an_error_of_the_sink_passed_on)
{
	struct deferred_exit deferred_exit = { 0 };
	struct given given = { .result = -ENOSPC };
	struct record record = { .task.tid = 3 };

	EXPECT_EQ(-EINVAL, deferred_exit__hold(&deferred_exit, &record, sizeof(record) - 1));
	EXPECT_EQ(-EINVAL, deferred_exit__hold(&deferred_exit, &record, sizeof(record) + 8));
	ASSERT_EQ(0, hold(&deferred_exit, 5, 5, 100));
	ASSERT_EQ(0, deferred_exit__round(&deferred_exit, 200, take, &given));
	EXPECT_EQ(-ENOSPC, deferred_exit__round(&deferred_exit, 300, take, &given));
	deferred_exit__free(&deferred_exit);
}

TEST_HARNESS_MAIN
