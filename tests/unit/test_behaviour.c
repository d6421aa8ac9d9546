/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/behaviour.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/harness.h"
#include "stat/bottlenecks.h"

#define STATE_S 1
#define STATE_D 2
#define MS 1000000ULL

/* A thread of 1000 ns; what is neither given here nor in calls is blocked. */
static struct stat_task thread(uint64_t running, uint64_t runnable, struct stat_call *calls,
			       size_t nr_calls)
{
	struct stat_task task = { .pid = 70000, .tid = 70001, .comm = "worker", .threads = 1,
				  .wall_ns = 1000, .running_ns = running, .runnable_ns = runnable,
				  .blocked_ns = 1000 - running - runnable, .calls = calls,
				  .nr_calls = nr_calls };

	return task;
}

static struct stat_call call(long nr, enum stat_file file, uint64_t blocked)
{
	struct stat_call call = { .nr = (uint32_t)nr, .file = file, .blocked_ns = blocked,
				  .times = { .count = 3, .total_ns = blocked } };

	return call;
}

static const char *class_of(const struct stat_data *data, const struct stat_task *task)
{
	struct behaviour behaviour = behaviour__of(data, task);

	return behaviour__name(behaviour.kind);
}

/* The class of a thread that is blocked in one call for all the time that it has no CPU. */
static const char *class_by(long nr, enum stat_file file, uint64_t running, uint64_t runnable)
{
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES };
	struct stat_call calls[] = { call(nr, file, 1000 - running - runnable) };
	struct stat_task task = thread(running, runnable, calls, 1);

	return class_of(&data, &task);
}

TEST(each_class)
{
	EXPECT_STREQ("cpu-bound", class_by(SYS_fsync, STAT_FILE_REGULAR, 500, 0));
	EXPECT_STREQ("io-bound", class_by(SYS_fsync, STAT_FILE_REGULAR, 499, 0));
	EXPECT_STREQ("io-bound", class_by(SYS_read, STAT_FILE_REGULAR, 100, 0));
	EXPECT_STREQ("network-bound", class_by(SYS_read, STAT_FILE_SOCKET, 100, 0));
	EXPECT_STREQ("network-bound", class_by(SYS_connect, STAT_FILE_NONE, 100, 0));
	EXPECT_STREQ("lock-bound", class_by(SYS_flock, STAT_FILE_REGULAR, 100, 0));
	/* A lock, or work: that is not known where waits for locks are not counted. */
	EXPECT_STREQ("mixed", class_by(SYS_futex, STAT_FILE_NONE, 100, 0));
	EXPECT_STREQ("starved", class_by(SYS_fsync, STAT_FILE_REGULAR, 100, 300));
	EXPECT_STREQ("cpu-bound", class_by(SYS_fsync, STAT_FILE_REGULAR, 600, 299));
	EXPECT_STREQ("mixed", class_by(SYS_fsync, STAT_FILE_REGULAR, 300, 299));
}

/* Waits for work do not count as active time. */
TEST(waits_for_work_are_idle)
{
	EXPECT_STREQ("idle", class_by(SYS_epoll_pwait, STAT_FILE_NONE, 49, 0));
	EXPECT_STREQ("cpu-bound", class_by(SYS_epoll_pwait, STAT_FILE_NONE, 50, 0));
	EXPECT_STREQ("starved", class_by(SYS_nanosleep, STAT_FILE_NONE, 60, 40));
	EXPECT_STREQ("idle", class_by(SYS_accept4, STAT_FILE_NONE, 0, 0));
	EXPECT_STREQ("idle", class_by(SYS_wait4, STAT_FILE_NONE, 0, 0));
	EXPECT_STREQ("idle", class_by(SYS_read, STAT_FILE_PIPE, 0, 0));
	EXPECT_STREQ("idle", class_by(SYS_read, STAT_FILE_OTHER, 0, 0));
	EXPECT_STREQ("idle", class_by(SYS_clock_nanosleep, STAT_FILE_NONE, 0, 0));
}

TEST(a_task_without_time_is_idle)
{
	struct stat_data data = { 0 };
	struct stat_task task = { 0 };

	EXPECT_STREQ("idle", class_of(&data, &task));
}

TEST(page_faults_are_state_d_outside_of_calls)
{
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES };
	struct stat_call calls[] = { call(SYS_read, STAT_FILE_REGULAR, 100) };
	struct stat_task task = thread(100, 0, calls, 1);
	struct behaviour behaviour;

	task.state[STATE_D].total_ns = 900;
	behaviour = behaviour__of(&data, &task);
	EXPECT_STREQ("memory-bound", behaviour__name(behaviour.kind));
	EXPECT_EQ(800, behaviour.ns[BEHAVIOUR_MEMORY]);
	EXPECT_EQ(100, behaviour.ns[BEHAVIOUR_IO]);
	/* Without calls it cannot be told from other I/O. */
	data.parts = STAT_PART_OFFCPU;
	EXPECT_STREQ("io-bound", class_of(&data, &task));
}

/* State D has the waits for a CPU after the wake-ups in it, the blocked time of a call has not. */
TEST(waits_for_a_cpu_after_state_d_are_no_page_faults)
{
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES };
	struct stat_call calls[] = { call(SYS_fsync, STAT_FILE_REGULAR, 160) };
	struct stat_task task = thread(200, 640, calls, 1);
	struct behaviour behaviour;

	task.state[STATE_D].total_ns = 700;
	behaviour = behaviour__of(&data, &task);
	EXPECT_EQ(0, behaviour.ns[BEHAVIOUR_MEMORY]);
	EXPECT_EQ(160, behaviour.ns[BEHAVIOUR_IO]);
}

TEST(without_calls_sleeps_are_idle)
{
	struct stat_data data = { .parts = STAT_PART_OFFCPU };
	struct stat_task task = thread(10, 0, NULL, 0);

	task.state[STATE_S].total_ns = 990;
	EXPECT_STREQ("idle", class_of(&data, &task));
	task = thread(60, 0, NULL, 0);
	EXPECT_STREQ("cpu-bound", class_of(&data, &task));
}

TEST(a_call_that_has_not_returned_counts_for_its_thread_alone)
{
	struct stat_open_call open = { .pid = 70000, .tid = 70001, .nr = SYS_fsync,
				       .file = STAT_FILE_REGULAR, .ns = 900 };
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES, .open_calls = &open,
				  .nr_open_calls = 1 };
	struct stat_task task = thread(100, 0, NULL, 0);

	EXPECT_STREQ("io-bound", class_of(&data, &task));
	open.tid = 70002;
	EXPECT_STREQ("mixed", class_of(&data, &task));
}

/* A parent that waits for long does not outweigh what came in the interval. */
TEST(what_a_call_had_before_the_interval_is_not_of_it)
{
	struct stat_open_call earlier[] = {
		{ .pid = 70000, .tid = 70000, .nr = SYS_wait4, .ns = 59000 },
		{ .pid = 70000, .tid = 70001, .nr = SYS_fsync, .file = STAT_FILE_REGULAR,
		  .ns = 500 },
	};
	struct stat_open_call open = { .pid = 70000, .tid = 70000, .nr = SYS_wait4, .ns = 60000 };
	struct stat_call calls[] = { call(SYS_fsync, STAT_FILE_REGULAR, 1400) };
	struct stat_task worker = thread(100, 0, calls, 1);
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES, .threads = &worker,
				  .nr_threads = 1, .open_calls = &open, .nr_open_calls = 1,
				  .earlier_calls = earlier, .nr_earlier_calls = 2 };
	struct bottlenecks bottlenecks;

	data.total = thread(100, 0, calls, 1);
	data.total.pid = data.total.tid = 0;
	data.total.wall_ns = 2000;
	data.total.blocked_ns = 1900;
	EXPECT_STREQ("io-bound", class_of(&data, &data.total));
	EXPECT_EQ(900, behaviour__of(&data, &data.total).ns[BEHAVIOUR_IO]);
	EXPECT_EQ(1000, behaviour__of(&data, &data.total).ns[BEHAVIOUR_IDLING]);
	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(1, bottlenecks.nr);
	EXPECT_STREQ("thread 70001 (worker): 100 % of its blocked time in fsync "
		     "(900 ns in 3 calls)", bottlenecks.text[0]);
}

/* With locks counted, only waits that met an owner are those of a mutex. */
TEST(condition_variables_are_told_by_the_missing_owner)
{
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES | STAT_PART_LOCKS };
	struct stat_call calls[] = { call(SYS_futex, STAT_FILE_NONE, 960) };
	struct stat_task task = thread(40, 0, calls, 1);

	task.lock_ns = 960;
	EXPECT_STREQ("idle", class_of(&data, &task));
	task.owned_ns = 900;
	EXPECT_STREQ("lock-bound", class_of(&data, &task));
	EXPECT_EQ(900, behaviour__of(&data, &task).ns[BEHAVIOUR_LOCK]);
	EXPECT_EQ(60, behaviour__of(&data, &task).ns[BEHAVIOUR_IDLING]);
}

/* A mutex of one process is not what another one waits for. */
TEST(the_waits_for_locks_are_those_of_the_task_itself)
{
	struct stat_lock lock = { .pid = 70000, .name = "pool", .owner = 70002, .owner_met = 10,
				  .waits = { .count = 10, .total_ns = 900 } };
	struct stat_data data = { .parts = STAT_PART_LOCKS, .locks = &lock, .nr_locks = 1 };
	struct stat_task waiter = thread(100, 0, NULL, 0), other = thread(100, 0, NULL, 0);

	waiter.lock_ns = waiter.owned_ns = 900;
	/* Commands, and all threads, have no PID. */
	waiter.pid = other.pid = 0;
	EXPECT_STREQ("lock-bound", class_of(&data, &waiter));
	EXPECT_STREQ("cpu-bound", class_of(&data, &other));
	EXPECT_EQ(0, behaviour__of(&data, &other).ns[BEHAVIOUR_LOCK]);
}

/* Calls that have not returned are part of the waits of their threads, where these are counted. */
TEST(a_wait_for_a_futex_that_has_not_ended_is_counted_once)
{
	struct stat_open_call open = { .pid = 70000, .tid = 70001, .nr = SYS_futex, .ns = 1000 };
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES | STAT_PART_LOCKS,
				  .open_calls = &open, .nr_open_calls = 1 };
	struct stat_task task = thread(0, 0, NULL, 0);

	task.lock_ns = 1000;
	EXPECT_STREQ("idle", class_of(&data, &task));
	task.owned_ns = 1000;
	EXPECT_STREQ("lock-bound", class_of(&data, &task));
	EXPECT_EQ(1000, behaviour__of(&data, &task).ns[BEHAVIOUR_LOCK]);
	task.lock_ns = task.owned_ns = 0;
	open.nr = SYS_flock;
	EXPECT_STREQ("lock-bound", class_of(&data, &task));
	open.nr = SYS_futex;
	data.parts = STAT_PART_CALL_TIMES;
	EXPECT_STREQ("mixed", class_of(&data, &task));
	EXPECT_EQ(1000, behaviour__of(&data, &task).ns[BEHAVIOUR_UNKNOWN]);
}

TEST(kinds_of_time_add_up_to_the_wall_time)
{
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES };
	struct stat_call calls[] = { call(SYS_read, STAT_FILE_REGULAR, 3000),
				     call(SYS_flock, STAT_FILE_REGULAR, 1000) };
	struct stat_task task = thread(100, 100, calls, 2);
	struct behaviour behaviour = behaviour__of(&data, &task);
	uint64_t sum = 0;

	for (int i = 0; i < BEHAVIOUR_TIMES; i++)
		sum += behaviour.ns[i];
	EXPECT_EQ(1000, sum);
	EXPECT_EQ(600, behaviour.ns[BEHAVIOUR_IO]);
	EXPECT_EQ(200, behaviour.ns[BEHAVIOUR_LOCK]);
}

TEST(a_sentence_for_a_call)
{
	struct stat_call calls[] = { call(SYS_fsync, STAT_FILE_REGULAR, 639),
				     call(SYS_epoll_pwait, STAT_FILE_NONE, 261) };
	struct stat_task task = thread(100, 0, calls, 2);
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES, .threads = &task,
				  .nr_threads = 1 };
	struct bottlenecks bottlenecks;

	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(1, bottlenecks.nr);
	EXPECT_STREQ("thread 70001 (worker): 71 % of its blocked time in fsync "
		     "(639 ns in 3 calls)", bottlenecks.text[0]);
	/* Waits for work are no bottleneck, nor is a tenth of the time. */
	calls[0].blocked_ns = 94;
	bottlenecks__find(&data, &bottlenecks);
	EXPECT_EQ(0, bottlenecks.nr);
}

TEST(sentences_name_locks_connections_and_the_lack_of_a_cpu)
{
	struct stat_lock locks[] = {
		{ .pid = 70000, .address = 0x10, .name = "[heap]+0x10", .owner = 70003,
		  .owner_met = 1, .waits = { .count = 1, .total_ns = 5000 } },
		{ .pid = 70000, .address = 0x20, .name = "libdb.so+0x10", .owner = 70002,
		  .owner_met = 1, .waits = { .count = 1, .total_ns = 900 } },
	};
	struct stat_file_wait files[] = {
		{ .pid = 70000, .tid = 70009, .nr = SYS_recvfrom, .ns = 900, .name = "another's" },
		{ .pid = 70000, .tid = 70001, .nr = SYS_recvfrom, .ns = 600,
		  .name = "10.0.0.2:9 to 10.0.0.1:5432" },
		{ .pid = 70000, .tid = 70001, .nr = SYS_fsync, .ns = 700, .name = "/data" },
	};
	struct stat_call receiving[] = { call(SYS_recvfrom, STAT_FILE_NONE, 800) };
	struct stat_task tasks[] = { thread(100, 0, NULL, 0), thread(100, 0, receiving, 1),
				     thread(100, 700, NULL, 0) };
	struct stat_data data = { .parts = 63, .threads = tasks, .nr_threads = 3, .locks = locks,
				  .nr_locks = 2, .files = files, .nr_files = 3 };
	struct bottlenecks bottlenecks;

	tasks[0].lock_ns = tasks[0].owned_ns = 900;
	tasks[0].lock = 0x20;
	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(3, bottlenecks.nr);
	EXPECT_STREQ("thread 70001 (worker): 100 % of its blocked time waiting for "
		     "libdb.so+0x10, held by thread 70002 (900 ns)",
		     bottlenecks.text[0]);
	EXPECT_STREQ("thread 70001 (worker): 89 % of its blocked time in recvfrom on "
		     "10.0.0.2:9 to 10.0.0.1:5432 (800 ns in 3 calls)", bottlenecks.text[1]);
	EXPECT_STREQ("thread 70001 (worker): 70 % of its time waiting for a CPU (700 ns)",
		     bottlenecks.text[2]);
}

TEST(sentences_name_the_file_that_took_most_of_the_time)
{
	struct stat_file_wait files[] = {
		{ .pid = 70000, .tid = 70001, .nr = SYS_fsync, .ns = 500, .name = "/var/lib/db" },
		{ .pid = 70000, .tid = 70001, .nr = SYS_fsync, .ns = 400, .name = "/var/lib/log" },
	};
	struct stat_open_call open = { .pid = 70000, .tid = 70001, .nr = SYS_fsync,
				       .file = STAT_FILE_REGULAR, .ns = 100 };
	struct stat_call calls[] = { call(SYS_fsync, STAT_FILE_REGULAR, 800) };
	struct stat_task task = thread(100, 0, calls, 1);
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES, .threads = &task, .nr_threads = 1,
				  .files = files, .nr_files = 2, .open_calls = &open,
				  .nr_open_calls = 1 };
	struct bottlenecks bottlenecks;

	bottlenecks__find(&data, &bottlenecks);
	EXPECT_STREQ("thread 70001 (worker): 100 % of its blocked time in fsync on /var/lib/db "
		     "(900 ns in 4 calls, the last not returned)", bottlenecks.text[0]);
	/* None that stands for all of it. */
	files[0].ns = files[1].ns - 1;
	files[1].name[0] = '\0';
	bottlenecks__find(&data, &bottlenecks);
	EXPECT_STREQ("thread 70001 (worker): 100 % of its blocked time in fsync "
		     "(900 ns in 4 calls, the last not returned)", bottlenecks.text[0]);
	/* A first call that has not returned is no less of a cause. */
	task.nr_calls = 0;
	data.nr_files = 0;
	open.ns = 900;
	bottlenecks__find(&data, &bottlenecks);
	EXPECT_STREQ("thread 70001 (worker): 100 % of its blocked time in fsync "
		     "(900 ns in 1 call, not returned)", bottlenecks.text[0]);
}

/* Their threads are not listed by themselves. */
TEST(a_process_that_has_ended_has_a_sentence)
{
	struct stat_call calls[] = { call(SYS_fsync, STAT_FILE_REGULAR, 900) };
	struct stat_task process = thread(100, 0, calls, 1);
	struct stat_data data = { .parts = STAT_PART_CALL_TIMES, .processes = &process,
				  .nr_processes = 1 };
	struct bottlenecks bottlenecks;

	bottlenecks__find(&data, &bottlenecks);
	EXPECT_EQ(0, bottlenecks.nr);
	process.ended = true;
	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(1, bottlenecks.nr);
	EXPECT_STREQ("process 70000 (worker): 100 % of its blocked time in fsync "
		     "(900 ns in 3 calls)", bottlenecks.text[0]);
}

TEST(a_deadlock_is_told_once_and_first)
{
	struct stat_lock locks[] = { { .pid = 70, .address = 0x10, .name = "[heap]+0x10" } };
	struct stat_open_wait waits[] = {
		{ .pid = 70, .tid = 74, .owner = 72, .address = 0x30, .ns = 999 * MS, .comm = "d" },
		{ .pid = 70, .tid = 72, .owner = 71, .address = 0x10, .ns = 900 * MS, .comm = "b" },
		{ .pid = 70, .tid = 71, .owner = 73, .address = 0x20, .ns = 800 * MS, .comm = "a" },
		{ .pid = 70, .tid = 73, .owner = 72, .address = 0x30, .ns = 700 * MS, .comm = "c" },
		{ .pid = 70, .tid = 75, .owner = 76, .address = 0x40, .ns = 600 * MS, .comm = "e" },
		{ .pid = 70, .tid = 78, .owner = 0, .address = 0x40, .ns = 600 * MS, .comm = "f" },
	};
	struct stat_task starved = thread(0, 900, NULL, 0);
	struct stat_data data = { .parts = STAT_PART_LOCKS, .locks = locks, .nr_locks = 1,
				  .open_waits = waits, .nr_open_waits = 6,
				  .threads = &starved, .nr_threads = 1 };
	struct bottlenecks bottlenecks;

	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(2, bottlenecks.nr);
	EXPECT_STREQ("deadlock for 700.000 ms: thread 71 (a) waits for 0x20 of thread 73, "
		     "thread 73 (c) waits for 0x30 of thread 72, "
		     "thread 72 (b) waits for [heap]+0x10 of thread 71", bottlenecks.text[0]);
	EXPECT_EQ(0, strncmp("thread 70001 ", bottlenecks.text[1], 13));
	/* After a short wait, another thread may hold the mutex. */
	waits[3].ns = 100 * MS - 1;
	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(1, bottlenecks.nr);
}

TEST(five_sentences_the_greatest_first)
{
	struct stat_task tasks[8];
	struct stat_data data = { .threads = tasks, .nr_threads = 8 };
	struct bottlenecks bottlenecks;

	for (int i = 0; i < 8; i++) {
		tasks[i] = thread(0, 300 + (uint64_t)(i * 5 % 8) * 10, NULL, 0);
		tasks[i].tid = i * 5 % 8;
	}
	bottlenecks__find(&data, &bottlenecks);
	ASSERT_EQ(5, bottlenecks.nr);
	for (int i = 0; i < 5; i++) {
		char begin[16];

		snprintf(begin, sizeof(begin), "thread %d ", 7 - i);
		EXPECT_EQ(0, strncmp(begin, bottlenecks.text[i], strlen(begin)));
	}
}

TEST_HARNESS_MAIN
