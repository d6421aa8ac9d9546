/* SPDX-License-Identifier: GPL-2.0-only */
#include <kselftest_harness.h>

#include "capture/waiting_threads.h"

static void add(struct waiting_threads *threads, pid_t tid, uint64_t runnable_ns,
		uint64_t throttled_ns)
{
	const struct thread_waits thread = {
		.tid = tid,
		.runnable_ns = runnable_ns,
		.throttled_ns = throttled_ns,
	};

	waiting_threads__add(threads, &thread);
}

TEST(the_longest_stands_first_whichever_of_the_two_it_waited_for)
{
	struct waiting_threads threads = { 0 };

	add(&threads, 1, 10, 0);
	add(&threads, 2, 0, 30);
	add(&threads, 3, 15, 5);
	add(&threads, 4, 0, 0);
	ASSERT_EQ(3, threads.nr);
	EXPECT_EQ(2, threads.top[0].tid);
	EXPECT_EQ(3, threads.top[1].tid);
	EXPECT_EQ(1, threads.top[2].tid);
}

TEST(of_more_than_have_room_the_longest_stay_in_whatever_order_they_come)
{
	struct waiting_threads threads = { 0 };
	const pid_t nr = 3 * WAITING_THREADS_MAX;

	/* 7 has no divisor in common with nr: each comes once. */
	for (pid_t i = 0; i < nr; i++)
		add(&threads, i * 7 % nr, (uint64_t)(i * 7 % nr), 0);
	ASSERT_EQ(WAITING_THREADS_MAX, threads.nr);
	for (size_t i = 0; i < WAITING_THREADS_MAX; i++)
		EXPECT_EQ(nr - 1 - (pid_t)i, threads.top[i].tid);
}

TEST_HARNESS_MAIN
