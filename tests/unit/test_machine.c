/* SPDX-License-Identifier: GPL-2.0-only */
/* The process and the names of a task at any time, while tasks come and go. */
#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"
#include "common/machine_events.h"

FIXTURE(machine)
{
	struct machine *machine;
};

FIXTURE_SETUP(machine)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
}

FIXTURE_TEARDOWN(machine)
{
	machine__delete(self->machine);
}

static const char *comm_at(const struct machine *machine, pid_t tid, uint64_t time)
{
	const struct thread *thread = machine__thread_at(machine, tid, time);
	const char *comm = thread ? thread__comm_at(thread, time) : NULL;

	return comm ? comm : "-";
}

static pid_t pid_of(const struct machine *machine, pid_t tid, uint64_t time)
{
	const struct thread *thread = machine__thread_at(machine, tid, time);

	return thread ? thread->process->pid : 0;
}

TEST_F(machine, names_are_those_of_their_time)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "first", 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "second", 100));
	ASSERT_EQ(0, execs(self->machine, 10, "third", 200));
	EXPECT_STREQ("first", comm_at(self->machine, 10, 99));
	EXPECT_STREQ("second", comm_at(self->machine, 10, 100));
	EXPECT_STREQ("second", comm_at(self->machine, 10, 199));
	EXPECT_STREQ("third", comm_at(self->machine, 10, 200));
	EXPECT_STREQ("-", comm_at(self->machine, 11, 200));
	machine__forget(self->machine, 150);
	EXPECT_STREQ("second", comm_at(self->machine, 10, 150));
	EXPECT_STREQ("third", comm_at(self->machine, 10, 250));
}

TEST_F(machine, a_new_task_is_called_what_its_maker_is)
{
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "server", 0));
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 50));
	ASSERT_EQ(0, forks(self->machine, 20, 10, 60));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "later", 70));
	EXPECT_STREQ("server", comm_at(self->machine, 11, 80));
	EXPECT_STREQ("server", comm_at(self->machine, 20, 80));
	EXPECT_EQ(10, pid_of(self->machine, 11, 80));
	EXPECT_EQ(10, machine__process(self->machine, 20)->parent);
}

TEST_F(machine, each_life_of_a_pid_is_itself)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 100));
	ASSERT_EQ(0, execs(self->machine, 10, "old", 101));
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x1000, 0x1000, "/old", 102));
	ASSERT_EQ(0, ends(self->machine, 10, 10, 200));
	ASSERT_EQ(0, forks(self->machine, 10, 2, 300));
	ASSERT_EQ(0, execs(self->machine, 10, "new", 301));
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x1000, 0x1000, "/new", 302));
	/*
	 * Times between the end of the first life and the birth of the second belong to the first.
	 */
	EXPECT_STREQ("old", comm_at(self->machine, 10, 250));
	EXPECT_STREQ("/old", path_at(self->machine, 10, 250, 0x1000));
	EXPECT_EQ(1, machine__process_at(self->machine, 10, 250)->parent);
	EXPECT_STREQ("new", comm_at(self->machine, 10, 302));
	EXPECT_STREQ("/new", path_at(self->machine, 10, 302, 0x1000));
	EXPECT_EQ(2, machine__process_at(self->machine, 10, 302)->parent);
	machine__forget(self->machine, 250);
	EXPECT_STREQ("new", comm_at(self->machine, 10, 250));
	EXPECT_STREQ("/new", path_at(self->machine, 10, 302, 0x1000));
}

TEST_F(machine, a_tid_goes_from_one_process_to_another)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, forks(self->machine, 20, 1, 0));
	ASSERT_EQ(0, born(self->machine, 10, 30, 10, 100));
	/* The end of it was lost. */
	ASSERT_EQ(0, born(self->machine, 20, 30, 20, 200));
	EXPECT_EQ(10, pid_of(self->machine, 30, 199));
	EXPECT_EQ(20, pid_of(self->machine, 30, 200));
	EXPECT_EQ(1, machine__process(self->machine, 10)->nr_threads);
	EXPECT_EQ(2, machine__process(self->machine, 20)->nr_threads);
	/* And that of a whole process. */
	ASSERT_EQ(0, forks(self->machine, 20, 10, 300));
	EXPECT_EQ(1, machine__process(self->machine, 20)->nr_threads);
	machine__forget(self->machine, 300);
	EXPECT_EQ(0, pid_of(self->machine, 30, 300));
}

TEST_F(machine, a_process_lives_while_a_thread_of_it_does)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "main", 0));
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 100));
	ASSERT_EQ(0, ends(self->machine, 10, 10, 110));
	EXPECT_TRUE(process__lives(machine__process(self->machine, 10)));
	machine__forget(self->machine, 200);
	/* Its first thread stands for it. */
	EXPECT_STREQ("main", comm_at(self->machine, 10, 300));
	ASSERT_EQ(0, ends(self->machine, 10, 11, 310));
	EXPECT_FALSE(process__lives(machine__process(self->machine, 10)));
	EXPECT_EQ(310, machine__process(self->machine, 10)->died);
	machine__forget(self->machine, 309);
	EXPECT_NE(NULL, machine__process(self->machine, 10));
	machine__forget(self->machine, 310);
	EXPECT_EQ(NULL, machine__process(self->machine, 10));
	EXPECT_EQ(NULL, machine__thread(self->machine, 10));
}

TEST_F(machine, an_exec_by_another_thread_leaves_one_with_the_first_ones_id)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "old", 0));
	for (pid_t tid = 11; tid < 20; tid++)
		ASSERT_EQ(0, born(self->machine, 10, tid, 10, 100));
	ASSERT_EQ(0, ends(self->machine, 10, 10, 110));
	ASSERT_EQ(0, execs(self->machine, 10, "new", 120));
	EXPECT_EQ(1, machine__process(self->machine, 10)->nr_threads);
	EXPECT_STREQ("old", comm_at(self->machine, 10, 119));
	EXPECT_STREQ("old", comm_at(self->machine, 15, 119));
	EXPECT_STREQ("new", comm_at(self->machine, 10, 120));
	EXPECT_EQ(120, machine__thread(self->machine, 15)->died);
	/* The one that called goes on under another id: its own never ends. */
	ASSERT_EQ(0, ends(self->machine, 10, 10, 130));
	EXPECT_FALSE(process__lives(machine__process(self->machine, 10)));
}

TEST_F(machine, what_the_iterator_and_the_kernel_tell_is_one_task)
{
	/* Threads may come before the first one of their process. */
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 0));
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	EXPECT_EQ(2, machine__process(self->machine, 10)->nr_threads);
	EXPECT_EQ(1, machine__process(self->machine, 10)->parent);
	/* Born while the iterator went on. */
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 5));
	EXPECT_EQ(2, machine__process(self->machine, 10)->nr_threads);
}

TEST_F(machine, marks_are_handed_down_but_not_to_the_next_life_of_a_pid)
{
	struct process *process;

	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	process = machine__process(self->machine, 10);
	process->left_out = true;
	process->floods = 3;
	process->fp_quality = 5;
	ASSERT_EQ(0, forks(self->machine, 20, 10, 100));
	process = machine__process(self->machine, 20);
	EXPECT_TRUE(process->left_out);
	EXPECT_EQ(3, process->floods);
	EXPECT_EQ(5, process->fp_quality);
	ASSERT_EQ(0, execs(self->machine, 20, "new", 110));
	EXPECT_TRUE(process->left_out);
	EXPECT_EQ(3, process->floods);
	/* The pid is another's now, whose parent is not known. */
	ASSERT_EQ(0, ends(self->machine, 20, 20, 120));
	ASSERT_EQ(0, forks(self->machine, 20, 1, 130));
	EXPECT_FALSE(machine__process(self->machine, 20)->left_out);
	EXPECT_EQ(0, machine__process(self->machine, 20)->floods);
}

static int append_tid(void *ctx, const struct thread *thread)
{
	char *text = ctx;
	size_t len = strlen(text);

	snprintf(text + len, 64 - len, "%d ", thread->tid);
	return thread->tid == 99;
}

TEST_F(machine, threads_come_by_their_ids_and_each_id_once)
{
	char text[64] = "";

	ASSERT_EQ(0, forks(self->machine, 30, 1, 0));
	ASSERT_EQ(0, forks(self->machine, 20, 1, 0));
	ASSERT_EQ(0, born(self->machine, 20, 25, 20, 10));
	ASSERT_EQ(0, ends(self->machine, 20, 25, 20));
	ASSERT_EQ(0, born(self->machine, 30, 25, 30, 30));
	ASSERT_EQ(0, machine__each_thread(self->machine, append_tid, text));
	EXPECT_STREQ("20 25 30 ", text);
	ASSERT_EQ(0, forks(self->machine, 99, 1, 40));
	EXPECT_EQ(1, machine__each_thread(self->machine, append_tid, text));
}

/* A second of a storm of births: each makes a thread, execs, maps, and ends. */
static int storm(struct machine *machine, uint64_t second)
{
	uint64_t time = second * 1000000;
	char path[32];
	int err = 0;

	for (pid_t i = 0; i < 1000 && !err; i++, time += 1000) {
		pid_t pid = (pid_t)(second * 1000 % 30000) + 2 * i + 100;

		snprintf(path, sizeof(path), "/bin/%d", i % 50);
		err = forks(machine, pid, 1, time);
		err = err ? err : born(machine, pid, pid + 1, pid, time + 1);
		err = err ? err : execs(machine, pid, "program", time + 2);
		err = err ? err : maps_code(machine, pid, 0x1000, 0x1000, path, time + 3);
		err = err ? err : maps_code(machine, pid, 0x8000, 0x1000, "/lib/c", time + 4);
		err = err ? err : is_called(machine, pid, pid, "renamed", time + 5);
		err = err ? err : ends(machine, pid, pid, time + 6);
	}
	return err;
}

TEST_F(machine, a_thousand_forks_a_second_take_no_more_memory_after_many_windows_than_after_few)
{
	uint64_t few = 0, bytes;

	ASSERT_EQ(0, forks(self->machine, 1, 0, 0));
	for (uint64_t second = 1; second <= 600; second++) {
		ASSERT_EQ(0, storm(self->machine, second));
		machine__forget(self->machine, (second - 1) * 1000000);
		bytes = machine__bytes(self->machine);
		if (second == 10)
			few = bytes;
		if (few)
			ASSERT_GE(few + few / 10, bytes) TH_LOG("second %d", (int)second);
	}
	EXPECT_GT(2 << 20, few);
	machine__forget(self->machine, UINT64_MAX - 1);
	/* Files are kept for a while, and process 1. */
	EXPECT_GT(20000, machine__bytes(self->machine));
}

TEST_F(machine, in_a_window_without_end_it_asks_to_be_allowed_to_forget)
{
	uint64_t most = 0;
	int windows = 0;

	ASSERT_EQ(0, forks(self->machine, 1, 0, 0));
	EXPECT_FALSE(machine__wants_forget(self->machine));
	for (uint64_t second = 1; second <= 300; second++) {
		ASSERT_EQ(0, storm(self->machine, second));
		if (machine__bytes(self->machine) > most)
			most = machine__bytes(self->machine);
		if (!machine__wants_forget(self->machine))
			continue;
		windows++;
		/* The recorder forgets at the end of the next window what has ended in this one. */
		machine__forget(self->machine, (second - 1) * 1000000);
		EXPECT_FALSE(machine__wants_forget(self->machine));
	}
	EXPECT_LT(10, windows);
	EXPECT_GT(16 << 20, most);
}

TEST_F(machine, a_thread_that_renames_itself_without_end_takes_bounded_memory)
{
	uint64_t bytes = 0;
	char name[16];

	for (uint64_t i = 1; i <= 100000; i++) {
		snprintf(name, sizeof(name), "%d", (int)i);
		ASSERT_EQ(0, is_called(self->machine, 10, 10, name, i));
		if (i == 100)
			bytes = machine__bytes(self->machine);
	}
	EXPECT_EQ(bytes, machine__bytes(self->machine));
	/* Nor does it end windows early. */
	EXPECT_FALSE(machine__wants_forget(self->machine));
	EXPECT_STREQ("100000", comm_at(self->machine, 10, 100000));
	EXPECT_STREQ("99999", comm_at(self->machine, 10, 99999));
}

TEST_F(machine, programs_that_a_process_becomes_without_end_are_forgotten)
{
	uint64_t bytes = 0;

	for (uint64_t i = 1; i <= 20000; i++) {
		ASSERT_EQ(0, execs(self->machine, 10, "again", i * 10));
		ASSERT_EQ(0, maps_code(self->machine, 10, 0x1000, 0x1000, "/again", i * 10 + 1));
		if (machine__wants_forget(self->machine))
			machine__forget(self->machine, i * 10);
		if (machine__bytes(self->machine) > bytes)
			bytes = machine__bytes(self->machine);
	}
	EXPECT_GT(4 << 20, bytes);
}

TEST_HARNESS_MAIN
