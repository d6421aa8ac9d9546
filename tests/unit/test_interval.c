/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "stat/interval.h"
#include "stat/rollup.h"

static struct stat_task thread_of(pid_t tid, const uint64_t *blocks, int nr)
{
	struct stat_task thread = {
		.pid = tid, .tid = tid, .incarnation = (uint64_t)tid, .comm = "x", .threads = 1,
		.wall_ns = 1000000, .running_ns = 400000,
	};
	struct stat_call call = { .nr = 3, .errors = (uint64_t)nr };

	for (int i = 0; i < nr; i++) {
		stat_times__add(&thread.offcpu, blocks[i]);
		stat_times__add(&call.times, blocks[i]);
	}
	rollup__add_call(&thread, &call);
	return thread;
}

static void make_two(struct stat_data *data, const struct stat_task *thread,
		     const struct stat_task *other)
{
	struct rollup rollup = { 0 };

	rollup__add_thread(&rollup, thread);
	if (other)
		rollup__add_thread(&rollup, other);
	rollup__finish(&rollup, data);
}

static void make(struct stat_data *data, const struct stat_task *thread)
{
	make_two(data, thread, NULL);
}

TEST(an_interval_has_what_came_since)
{
	static const uint64_t blocks[] = { 1000, 2000, 50000, 60000 };
	struct stat_task first = thread_of(7, blocks, 2), second = thread_of(7, blocks, 4);
	struct stat_data before = { 0 }, now = { 0 }, interval = { 0 };

	second.wall_ns = 3000000;
	second.running_ns = 500000;
	make(&before, &first);
	make(&now, &second);
	before.end_ns = 100;
	now.end_ns = 300;
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	EXPECT_EQ(100, interval.start_ns);
	ASSERT_EQ(1, interval.nr_threads);
	EXPECT_EQ(2000000, interval.threads[0].wall_ns);
	EXPECT_EQ(100000, interval.threads[0].running_ns);
	EXPECT_EQ(2, interval.threads[0].offcpu.count);
	EXPECT_EQ(110000, interval.threads[0].offcpu.total_ns);
	/* Of the extremes, the power of two is known. */
	EXPECT_EQ(32768, interval.threads[0].offcpu.min_ns);
	EXPECT_EQ(60000, interval.threads[0].offcpu.max_ns);
	ASSERT_EQ(1, interval.threads[0].nr_calls);
	EXPECT_EQ(2, interval.threads[0].calls[0].times.count);
	EXPECT_EQ(2, interval.total.calls[0].errors);
	EXPECT_EQ(1, interval.nr_processes);
	EXPECT_EQ(1, interval.nr_commands);
	EXPECT_EQ(4, now.threads[0].offcpu.count);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

TEST(a_thread_of_the_same_tid_is_another_one)
{
	static const uint64_t blocks[] = { 1000, 2000 };
	struct stat_task first = thread_of(7, blocks, 2), second = thread_of(7, blocks, 2);
	struct stat_data before = { 0 }, now = { 0 }, interval = { 0 };

	second.incarnation = 8;
	make(&before, &first);
	make(&now, &second);
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	ASSERT_EQ(1, interval.nr_threads);
	EXPECT_EQ(2, interval.threads[0].offcpu.count);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

TEST(those_with_the_greatest_times_of_the_interval_are_first)
{
	static const uint64_t blocks[] = { 900000, 1000, 700000 };
	struct stat_task sleeper = thread_of(7, blocks, 1), other = thread_of(8, &blocks[1], 1);
	struct stat_data before = { 0 }, now = { 0 }, interval = { 0 };

	make_two(&before, &sleeper, &other);
	sleeper = thread_of(7, blocks, 2);
	other = thread_of(8, &blocks[1], 2);
	sleeper.wall_ns = other.wall_ns = 2000000;
	rollup__add_call(&sleeper, &(struct stat_call){ .nr = 4, .times = sleeper.offcpu });
	make_two(&now, &sleeper, &other);
	EXPECT_EQ(7, now.threads[0].tid);
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	ASSERT_EQ(2, interval.nr_threads);
	EXPECT_EQ(8, interval.threads[0].tid);
	EXPECT_EQ(8, interval.processes[0].pid);
	/* The call that is new has more time than what came to the old one. */
	ASSERT_EQ(2, interval.threads[1].nr_calls);
	EXPECT_EQ(4, interval.threads[1].calls[0].nr);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

/* A block that goes on was a block of the interval in which it began. */
TEST(a_block_that_goes_on_has_no_length_in_later_intervals)
{
	static const uint64_t began[] = { 1000, 300000 }, later[] = { 1000, 2300000, 1500, 1600 };
	struct stat_task first = thread_of(7, began, 2), second = thread_of(7, later, 4);
	struct stat_data before = { 0 }, now = { 0 }, interval = { 0 };
	const struct stat_times *times;

	second.wall_ns = 3000000;
	make(&before, &first);
	make(&now, &second);
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	ASSERT_EQ(1, interval.nr_threads);
	times = &interval.threads[0].offcpu;
	EXPECT_EQ(2, times->count);
	EXPECT_EQ(2003100, times->total_ns);
	EXPECT_EQ(2048, times->max_ns);
	EXPECT_LE(stat_times__quantile(times, 0.99), 2048);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

TEST(what_has_not_changed_is_left_out)
{
	static const uint64_t blocks[] = { 1000 };
	struct stat_task thread = thread_of(7, blocks, 1), again = thread_of(7, blocks, 1);
	struct stat_data before = { 0 }, now = { 0 }, interval = { 0 };
	struct stat_lock *old = calloc(1, sizeof(*old)), *lock = calloc(1, sizeof(*lock));

	make(&before, &thread);
	make(&now, &again);
	stat_times__add(&old->waits, 5);
	*lock = *old;
	before.locks = old;
	now.locks = lock;
	before.nr_locks = now.nr_locks = 1;
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	EXPECT_EQ(0, interval.nr_threads);
	EXPECT_EQ(0, interval.nr_locks);
	EXPECT_EQ(0, interval.total.offcpu.count);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

static struct stat_open_call *open_call(uint64_t ns)
{
	struct stat_open_call *call = calloc(1, sizeof(*call));

	*call = (struct stat_open_call){ .pid = 7, .tid = 7, .nr = 61, .ns = ns };
	return call;
}

TEST(calls_that_are_open_have_what_is_earlier_beside_them)
{
	struct stat_data before = { .open_calls = open_call(500), .nr_open_calls = 1 };
	struct stat_data now = { .open_calls = open_call(1500), .nr_open_calls = 1 };
	struct stat_data interval = { 0 };

	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	ASSERT_EQ(1, interval.nr_open_calls);
	EXPECT_EQ(1500, interval.open_calls[0].ns);
	ASSERT_EQ(1, interval.nr_earlier_calls);
	EXPECT_EQ(500, interval.earlier_calls[0].ns);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

static struct stat_file_wait *two_files(uint64_t first, uint64_t second)
{
	struct stat_file_wait *files = calloc(2, sizeof(*files));

	files[0] = (struct stat_file_wait){ 7, 7, 0, first / 100, first, "/a" };
	files[1] = (struct stat_file_wait){ 7, 7, 0, second / 100, second, "/b" };
	return files;
}

TEST(files_and_losses_are_those_of_the_interval)
{
	struct stat_data before = { .files = two_files(900, 100), .nr_files = 2 };
	struct stat_data now = { .files = two_files(900, 300), .nr_files = 2 };
	struct stat_data interval = { 0 };

	before.losses = (struct stat_losses){ .calls = 3, .unseen_switches = 4 };
	now.losses = (struct stat_losses){ .calls = 3, .unseen_switches = 6 };
	ASSERT_EQ(0, stat_interval__between(&before, &now, &interval));
	ASSERT_EQ(1, interval.nr_files);
	EXPECT_STREQ("/b", interval.files[0].name);
	EXPECT_EQ(200, interval.files[0].ns);
	EXPECT_EQ(2, interval.files[0].count);
	EXPECT_EQ(0, interval.losses.calls);
	EXPECT_EQ(2, interval.losses.unseen_switches);
	stat_data__free(&interval);
	stat_data__free(&now);
	stat_data__free(&before);
}

TEST_HARNESS_MAIN
