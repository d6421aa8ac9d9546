/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/traced_threads.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "capture/tracepoint_rings.h"
#include "common/harness.h"
#include "machine/task_event.h"

static int fork_of(struct traced_threads *threads, pid_t ppid, pid_t ptid, pid_t pid, pid_t tid)
{
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = pid, .tid = tid,
					  .ppid = ppid, .ptid = ptid };

	return traced_threads__follow(threads, &event);
}

static int end_of(struct traced_threads *threads, enum task_event_kind kind, pid_t pid, pid_t tid)
{
	const struct task_event event = { .kind = kind, .pid = pid, .tid = tid };

	return traced_threads__follow(threads, &event);
}

/* Two threads of process 10, the second of which is no target; and process 20, which is none. */
static void begin(struct traced_threads *threads, const struct capture_targets *targets)
{
	static const struct capture_task tasks[] = {
		{ .pid = 10, .tid = 10, .target = true },
		{ .pid = 10, .tid = 11 },
		{ .pid = 20, .tid = 20 },
		{ .pid = 2, .tid = 2, .kthread = true },
	};

	traced_threads__init(threads, targets);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		traced_threads__add(threads, &tasks[i]);
}

TEST(children_are_targets_as_the_thread_is_that_makes_them)
{
	const struct capture_targets targets = { 0 };
	struct traced_threads threads;

	begin(&threads, &targets);
	EXPECT_TRUE(traced_threads__has(&threads, 10, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 11, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 20, 0));
	ASSERT_EQ(0, fork_of(&threads, 10, 10, 10, 12));
	ASSERT_EQ(0, fork_of(&threads, 10, 12, 30, 30));
	ASSERT_EQ(0, fork_of(&threads, 10, 11, 31, 31));
	EXPECT_TRUE(traced_threads__has(&threads, 12, 0));
	EXPECT_TRUE(traced_threads__has(&threads, 30, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 31, 0));
	/* The tid is used again, by a child of another one. */
	ASSERT_EQ(0, end_of(&threads, TASK_EVENT_EXIT, 30, 30));
	EXPECT_FALSE(traced_threads__has(&threads, 30, 0));
	ASSERT_EQ(0, fork_of(&threads, 20, 20, 12, 12));
	EXPECT_FALSE(traced_threads__has(&threads, 12, 0));
	ASSERT_EQ(0, end_of(&threads, TASK_EVENT_EXEC, 10, 10));
	EXPECT_TRUE(traced_threads__has(&threads, 10, 0));
	traced_threads__free(&threads);
}

TEST(without_inheritance_threads_of_a_process_are_targets_and_of_a_thread_nothing_is)
{
	const pid_t tid = 10;
	struct capture_targets targets = { .no_inherit = true };
	struct traced_threads threads;

	begin(&threads, &targets);
	ASSERT_EQ(0, fork_of(&threads, 10, 10, 10, 12));
	ASSERT_EQ(0, fork_of(&threads, 10, 10, 30, 30));
	EXPECT_TRUE(traced_threads__has(&threads, 12, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 30, 0));
	traced_threads__free(&threads);
	targets.tids = &tid;
	targets.nr_tids = 1;
	begin(&threads, &targets);
	ASSERT_EQ(0, fork_of(&threads, 10, 10, 10, 12));
	EXPECT_FALSE(traced_threads__has(&threads, 12, 0));
	traced_threads__free(&threads);
}

TEST(of_all_threads_those_of_the_kernel_are_apart)
{
	struct capture_targets targets = { .all = true };
	struct traced_threads threads;

	begin(&threads, &targets);
	EXPECT_TRUE(traced_threads__has(&threads, 20, 0));
	EXPECT_TRUE(traced_threads__has(&threads, 99, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 2, 0));
	ASSERT_EQ(0, fork_of(&threads, 2, 2, 40, 40));
	EXPECT_FALSE(traced_threads__has(&threads, 40, 0));
	/* A helper that the kernel starts is a process once it has a program. */
	ASSERT_EQ(0, end_of(&threads, TASK_EVENT_EXEC, 40, 40));
	EXPECT_TRUE(traced_threads__has(&threads, 40, 0));
	traced_threads__free(&threads);
	targets.kernel_threads = true;
	begin(&threads, &targets);
	EXPECT_TRUE(traced_threads__has(&threads, 2, 0));
	traced_threads__free(&threads);
}

TEST(only_the_chosen_cpus_count)
{
	uint64_t bits[CAPTURE_MAX_CPUS / 64] = { [1] = 1 };
	const struct capture_targets targets = { .all = true, .cpu_bits = bits };
	struct traced_threads threads;

	begin(&threads, &targets);
	bits[0] = 1; /* the list is copied */
	EXPECT_TRUE(traced_threads__has(&threads, 20, 64));
	EXPECT_FALSE(traced_threads__has(&threads, 20, 0));
	EXPECT_FALSE(traced_threads__has(&threads, 20, CAPTURE_MAX_CPUS));
	EXPECT_FALSE(traced_threads__has(&threads, 20, UINT32_MAX));
	traced_threads__free(&threads);
}

TEST(a_hit_lies_in_its_record)
{
	/* header, id, pid and tid, time, cpu, u32 size and 12 bytes of data, cgroup */
	uint32_t words[] = { PERF_RECORD_SAMPLE, 0,	5, 0, 100, 101, 7000, 0, 3, 0, 12,
			     0x00ff012c,	 101,	9, 42, 0 };
	const uint16_t size = sizeof(words);
	struct tracepoint_hit hit;

	words[1] = (uint32_t)size << 16;
	ASSERT_EQ(0, tracepoint_hit__decode(words, size, true, &hit));
	EXPECT_EQ(300, hit.id);
	EXPECT_EQ(100, hit.pid);
	EXPECT_EQ(101, hit.tid);
	EXPECT_EQ(7000, hit.time);
	EXPECT_EQ(3, hit.cpu);
	EXPECT_EQ(12, hit.size);
	EXPECT_EQ(42, hit.cgroup);
	EXPECT_EQ(0, memcmp(hit.data, &words[11], 12));
	for (size_t cut = 0; cut < size; cut++)
		EXPECT_EQ(-EINVAL, tracepoint_hit__decode(words, cut, true, &hit));
	words[10] = 13;
	EXPECT_EQ(-EINVAL, tracepoint_hit__decode(words, size, true, &hit));
	words[10] = UINT32_MAX;
	EXPECT_EQ(-EINVAL, tracepoint_hit__decode(words, size, true, &hit));
	words[10] = 1;
	EXPECT_EQ(-EINVAL, tracepoint_hit__decode(words, size, true, &hit));
	words[10] = 12;
	words[0] = PERF_RECORD_LOST;
	EXPECT_EQ(-EINVAL, tracepoint_hit__decode(words, size, true, &hit));
}

TEST_HARNESS_MAIN
