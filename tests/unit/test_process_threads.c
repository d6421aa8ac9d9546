/* SPDX-License-Identifier: GPL-2.0-only */
/* A process lives as long as one of its threads does, whichever that is. */
#include "common/harness.h"

#include "capture/process_threads.h"

TEST(a_thread_counts_once_however_often_it_is_told_of)
{
	struct process_threads threads = { 0 };

	ASSERT_EQ(0, process_threads__add(&threads, 5, 5));
	ASSERT_EQ(0, process_threads__add(&threads, 5, 6));
	ASSERT_EQ(0, process_threads__add(&threads, 5, 6));
	EXPECT_EQ(2, process_threads__of(&threads, 5));
	process_threads__remove(&threads, 5);
	EXPECT_EQ(1, process_threads__of(&threads, 5));
	/* Nobody ever told of this one. */
	process_threads__remove(&threads, 7);
	EXPECT_EQ(1, process_threads__of(&threads, 5));
	process_threads__remove(&threads, 6);
	EXPECT_EQ(0, process_threads__of(&threads, 5));
	EXPECT_EQ(0, process_threads__processes(&threads));
	process_threads__free(&threads);
}

TEST(an_id_that_is_another_processes_now_leaves_the_one_that_had_it)
{
	struct process_threads threads = { 0 };

	ASSERT_EQ(0, process_threads__add(&threads, 5, 6));
	ASSERT_EQ(0, process_threads__add(&threads, 8, 6));
	EXPECT_EQ(0, process_threads__of(&threads, 5));
	EXPECT_EQ(1, process_threads__of(&threads, 8));
	EXPECT_EQ(1, process_threads__processes(&threads));
	process_threads__free(&threads);
}

TEST(an_exec_leaves_one_thread_which_has_the_id_of_the_process)
{
	struct process_threads threads = { 0 };

	for (pid_t tid = 6; tid < 1000; tid++)
		ASSERT_EQ(0, process_threads__add(&threads, 5, tid));
	ASSERT_EQ(0, process_threads__add(&threads, 4, 4));
	ASSERT_EQ(0, process_threads__exec(&threads, 5));
	EXPECT_EQ(1, process_threads__of(&threads, 5));
	EXPECT_EQ(1, process_threads__of(&threads, 4));
	process_threads__remove(&threads, 6);
	EXPECT_EQ(1, process_threads__of(&threads, 5));
	process_threads__remove(&threads, 5);
	EXPECT_EQ(1, process_threads__processes(&threads));
	/* One that is not known stays so. */
	ASSERT_EQ(0, process_threads__exec(&threads, 77));
	EXPECT_EQ(0, process_threads__of(&threads, 77));
	process_threads__free(&threads);
}

TEST(a_process_that_is_forgotten_takes_its_threads_along)
{
	struct process_threads threads = { 0 };

	for (pid_t tid = 5; tid < 1000; tid++)
		ASSERT_EQ(0, process_threads__add(&threads, 5, tid));
	process_threads__forget(&threads, 5);
	EXPECT_EQ(0, process_threads__of(&threads, 5));
	EXPECT_EQ(0, threads.process_of.used);
	process_threads__free(&threads);
}

TEST_HARNESS_MAIN
