/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>

#include <kselftest_harness.h>

#include "stat/rollup.h"

static struct stat_task thread_of(pid_t pid, pid_t tid, const char *comm, uint64_t ns)
{
	struct stat_task thread = { .pid = pid, .tid = tid, .threads = 1, .wall_ns = 10 * ns };

	snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
	stat_times__add(&thread.offcpu, ns);
	thread.blocked_ns = ns;
	return thread;
}

static struct stat_call call_of(uint32_t nr, enum stat_file file, uint64_t ns)
{
	struct stat_call call = { .nr = nr, .file = file, .errors = 1 };

	stat_times__add(&call.times, ns);
	return call;
}

TEST(threads_are_added_up_by_process_and_by_command)
{
	struct rollup rollup = { 0 };
	struct stat_data data = { 0 };
	struct stat_task ended = thread_of(100, 0, "worker", 5000);
	struct stat_task threads[] = {
		thread_of(100, 101, "worker", 1000), thread_of(100, 100, "server", 3000),
		thread_of(200, 200, "worker", 2000),
	};

	ended.threads = ended.ended_threads = 4;
	ASSERT_EQ(0, rollup__add_ended(&rollup, &ended));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, rollup__add_thread(&rollup, &threads[i]));
	rollup__finish(&rollup, &data);
	ASSERT_EQ(3, data.nr_threads);
	EXPECT_EQ(100, data.threads[0].tid);
	EXPECT_EQ(101, data.threads[2].tid);
	ASSERT_EQ(2, data.nr_processes);
	EXPECT_EQ(100, data.processes[0].pid);
	/* The name is that of the first thread, whichever came first. */
	EXPECT_STREQ("server", data.processes[0].comm);
	EXPECT_EQ(6, data.processes[0].threads);
	EXPECT_EQ(4, data.processes[0].ended_threads);
	EXPECT_FALSE(data.processes[0].ended);
	EXPECT_EQ(9000, data.processes[0].offcpu.total_ns);
	ASSERT_EQ(2, data.nr_commands);
	EXPECT_STREQ("worker", data.commands[0].comm);
	EXPECT_EQ(8000, data.commands[0].offcpu.total_ns);
	EXPECT_EQ(7, data.total.threads);
	EXPECT_EQ(11000, data.total.offcpu.total_ns);
	EXPECT_EQ(110000, data.total.wall_ns);
	stat_data__free(&data);
}

TEST(threads_known_by_their_name_only_are_of_other_processes)
{
	struct rollup rollup = { 0 };
	struct stat_data data = { 0 };
	struct stat_task ended[] = { thread_of(0, 0, "one", 1000), thread_of(0, 0, "two", 2000),
				     thread_of(100, 100, "three", 500) };

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, rollup__add_ended(&rollup, &ended[i]));
	rollup__finish(&rollup, &data);
	ASSERT_EQ(2, data.nr_processes);
	EXPECT_STREQ("(others)", data.processes[0].comm);
	EXPECT_EQ(2, data.processes[0].threads);
	EXPECT_STREQ("three", data.processes[1].comm);
	EXPECT_EQ(3, data.nr_commands);
	stat_data__free(&data);
}

TEST(calls_are_those_of_all_threads_and_differ_by_file)
{
	struct rollup rollup = { 0 };
	struct stat_data data = { 0 };
	struct stat_call calls[] = {
		call_of(0, STAT_FILE_PIPE, 100), call_of(0, STAT_FILE_SOCKET, 5000),
		call_of(7, STAT_FILE_NONE, 300),
	};

	for (pid_t tid = 1; tid <= 2; tid++) {
		struct stat_task thread = thread_of(1, tid, "x", 1000);

		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, rollup__add_call(&thread, &calls[i]));
		ASSERT_EQ(0, rollup__add_call(&thread, &calls[0]));
		ASSERT_EQ(3, thread.nr_calls);
		ASSERT_EQ(0, rollup__add_thread(&rollup, &thread));
	}
	rollup__finish(&rollup, &data);
	ASSERT_EQ(3, data.total.nr_calls);
	EXPECT_EQ(STAT_FILE_SOCKET, data.total.calls[0].file);
	EXPECT_EQ(10000, data.total.calls[0].times.total_ns);
	EXPECT_EQ(7, data.total.calls[1].nr);
	EXPECT_EQ(4, data.total.calls[2].times.count);
	EXPECT_EQ(4, data.total.calls[2].errors);
	ASSERT_EQ(1, data.nr_processes);
	ASSERT_EQ(3, data.processes[0].nr_calls);
	stat_data__free(&data);
}

TEST(a_process_all_of_whose_threads_have_ended_has_ended)
{
	struct rollup rollup = { 0 };
	struct stat_data data = { 0 };
	struct stat_task ended = thread_of(5, 5, "gone", 1000);

	ended.ended_threads = 1;
	ASSERT_EQ(0, rollup__add_ended(&rollup, &ended));
	rollup__finish(&rollup, &data);
	ASSERT_EQ(1, data.nr_processes);
	EXPECT_TRUE(data.processes[0].ended);
	EXPECT_EQ(0, data.nr_threads);
	stat_data__free(&data);
}

TEST(what_was_not_finished_is_freed)
{
	struct rollup rollup = { 0 };
	struct stat_task thread = thread_of(1, 1, "x", 1000);
	struct stat_call call = call_of(1, STAT_FILE_NONE, 10);

	ASSERT_EQ(0, rollup__add_call(&thread, &call));
	ASSERT_EQ(0, rollup__add_thread(&rollup, &thread));
	rollup__free(&rollup);
	EXPECT_EQ(0, rollup.threads.len);
}

TEST_HARNESS_MAIN
