/* SPDX-License-Identifier: GPL-2.0-only */
/* EXIT records wait until no sample of their task, or of their process, can come any more. */
#include "machine/deferred_exit.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "common/harness.h"
#include "output/perfdata/layout.h"

struct record {
	struct layout_task task;
	struct layout_sample_id id;
};

FIXTURE(exits)
{
	struct deferred_exit exits;
	struct record given[8];
	size_t nr;
	int result;
};

FIXTURE_SETUP(exits)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(exits)
{
	deferred_exit__free(&self->exits);
}

typedef FIXTURE_DATA(exits) data;

static int take(void *ctx, const void *record, size_t size)
{
	data *self = ctx;

	if (size != sizeof(struct record) || self->nr == 8)
		return -EINVAL;
	memcpy(&self->given[self->nr++], record, size);
	return self->result;
}

static int ends(data *self, uint32_t pid, uint32_t tid, uint64_t time, bool alive)
{
	const struct record record = {
		.task = { .header = { PERF_RECORD_EXIT, 0, sizeof(record) }, .pid = pid, .tid = tid,
			  .ppid = 1, .ptid = 2, .time = time },
		.id = { .pid = pid, .tid = tid, .time = time, .cpu = 1, .id = 77 },
	};
	const struct task_event event = { .kind = TASK_EVENT_EXIT, .pid = (pid_t)pid,
					  .tid = (pid_t)tid, .time = time,
					  .record = &record, .size = sizeof(record) };

	return deferred_exit__follow(&self->exits, &event, alive);
}

static int follow(data *self, enum task_event_kind kind, pid_t pid, pid_t tid)
{
	const struct task_event event = { .kind = kind, .pid = pid, .tid = tid };

	return deferred_exit__follow(&self->exits, &event, true);
}

static int end_window(data *self, uint64_t time)
{
	return deferred_exit__round(&self->exits, time, take, self);
}

TEST_F(exits, an_exit_comes_a_whole_window_later_with_the_time_of_then)
{
	ASSERT_EQ(0, ends(self, 5, 6, 100, true));
	ASSERT_EQ(0, end_window(self, 200));
	EXPECT_EQ(0, self->nr);
	ASSERT_EQ(0, end_window(self, 300));
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(PERF_RECORD_EXIT, self->given[0].task.header.type);
	EXPECT_EQ(5, self->given[0].task.pid);
	EXPECT_EQ(6, self->given[0].task.tid);
	EXPECT_EQ(1, self->given[0].task.ppid);
	EXPECT_EQ(2, self->given[0].task.ptid);
	EXPECT_EQ(300, self->given[0].task.time);
	EXPECT_EQ(300, self->given[0].id.time);
	EXPECT_EQ(77, self->given[0].id.id);
	ASSERT_EQ(0, end_window(self, 400));
	EXPECT_EQ(1, self->nr);
}

TEST_F(exits, an_id_that_is_used_again_has_no_late_exit)
{
	ASSERT_EQ(0, ends(self, 5, 5, 100, false));
	ASSERT_EQ(0, ends(self, 8, 8, 101, false));
	ASSERT_EQ(0, follow(self, TASK_EVENT_FORK, 5, 5));
	ASSERT_EQ(0, follow(self, TASK_EVENT_FORK, 99, 99));
	ASSERT_EQ(0, end_window(self, 200));
	ASSERT_EQ(0, end_window(self, 300));
	ASSERT_EQ(1, self->nr);
	EXPECT_EQ(8, self->given[0].task.pid);
}

TEST_F(exits, of_two_lives_of_one_id_only_the_last_exit_counts)
{
	ASSERT_EQ(0, ends(self, 5, 5, 100, false));
	ASSERT_EQ(0, follow(self, TASK_EVENT_FORK, 5, 5));
	ASSERT_EQ(0, ends(self, 5, 5, 150, false));
	ASSERT_EQ(0, end_window(self, 200));
	ASSERT_EQ(0, end_window(self, 300));
	EXPECT_EQ(1, self->nr);
}

TEST_F(exits, a_record_of_another_size_is_refused_and_an_error_of_the_sink_passed_on)
{
	struct task_event event = { .kind = TASK_EVENT_EXIT, .pid = 3, .tid = 3 };
	struct record record = { .task.tid = 3 };

	event.record = &record;
	event.size = sizeof(record) - 1;
	EXPECT_EQ(-EINVAL, deferred_exit__follow(&self->exits, &event, false));
	ASSERT_EQ(0, ends(self, 5, 5, 100, false));
	self->result = -ENOSPC;
	ASSERT_EQ(0, end_window(self, 200));
	EXPECT_EQ(-ENOSPC, end_window(self, 300));
}

TEST_F(exits, a_first_thread_that_ends_before_another_comes_behind_the_last)
{
	ASSERT_EQ(0, ends(self, 5, 5, 100, true));
	ASSERT_EQ(0, end_window(self, 200));
	ASSERT_EQ(0, end_window(self, 300));
	ASSERT_EQ(0, end_window(self, 400));
	EXPECT_EQ(0, self->nr);
	ASSERT_EQ(0, follow(self, TASK_EVENT_FORK, 5, 7));
	ASSERT_EQ(0, ends(self, 5, 6, 410, true));
	ASSERT_EQ(0, ends(self, 5, 7, 420, false));
	ASSERT_EQ(0, end_window(self, 500));
	ASSERT_EQ(0, end_window(self, 600));
	ASSERT_EQ(3, self->nr);
	EXPECT_EQ(6, self->given[0].task.tid);
	EXPECT_EQ(7, self->given[1].task.tid);
	EXPECT_EQ(5, self->given[2].task.tid);
	EXPECT_EQ(600, self->given[2].task.time);
	EXPECT_EQ(77, self->given[2].id.id);
}

TEST_F(exits, an_exec_by_another_thread_is_no_end_but_the_end_after_it_is)
{
	ASSERT_EQ(0, ends(self, 5, 5, 100, true));
	ASSERT_EQ(0, follow(self, TASK_EVENT_EXEC, 5, 5));
	ASSERT_EQ(0, ends(self, 5, 5, 120, false));
	ASSERT_EQ(0, end_window(self, 200));
	ASSERT_EQ(0, end_window(self, 300));
	EXPECT_EQ(1, self->nr);
}

TEST_F(exits, a_new_process_of_the_same_id_owes_nothing_to_the_one_before)
{
	ASSERT_EQ(0, ends(self, 5, 5, 100, true));
	/* The end of the other thread was lost. */
	ASSERT_EQ(0, follow(self, TASK_EVENT_FORK, 5, 5));
	ASSERT_EQ(0, ends(self, 5, 5, 120, false));
	ASSERT_EQ(0, end_window(self, 200));
	ASSERT_EQ(0, end_window(self, 300));
	EXPECT_EQ(1, self->nr);
}

TEST_HARNESS_MAIN
