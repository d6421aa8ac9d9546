/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/proc_fallback.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/harness.h"
#include "common/tolerance.h"

static uint64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
}

/* What a thread knows of itself, and the steps that it takes with the test. */
struct truth {
	pthread_barrier_t ready, done, end;
	uint64_t cpu_ns;
	pid_t tid;
};

static void *burn(void *ctx)
{
	struct truth *truth = ctx;
	uint64_t before;

	prctl(PR_SET_NAME, "burner", 0, 0, 0);
	truth->tid = gettid();
	pthread_barrier_wait(&truth->ready);
	before = thread_cpu_ns();
	while (thread_cpu_ns() - before < 200 * NSEC_PER_MSEC)
		;
	truth->cpu_ns = thread_cpu_ns() - before;
	pthread_barrier_wait(&truth->done);
	pthread_barrier_wait(&truth->end);
	return NULL;
}

static const struct stat_task *find(const struct stat_data *data, pid_t tid)
{
	for (size_t i = 0; i < data->nr_threads; i++) {
		if (data->threads[i].tid == tid)
			return &data->threads[i];
	}
	return NULL;
}

static void start(struct truth *truth, pthread_t *thread)
{
	pthread_barrier_init(&truth->ready, NULL, 2);
	pthread_barrier_init(&truth->done, NULL, 2);
	pthread_barrier_init(&truth->end, NULL, 2);
	pthread_create(thread, NULL, burn, truth);
}

static const struct capture_targets everybody = { .all = true };

TEST(a_thread_that_burns_and_ends)
{
	struct proc_fallback *fallback = proc_fallback__new();
	struct stat_data data = { 0 };
	const struct stat_task *task;
	pid_t pid = getpid();
	uint64_t begin, end;
	struct truth truth;
	pthread_t thread;

	ASSERT_NE(NULL, fallback);
	start(&truth, &thread);
	pthread_barrier_wait(&truth.ready);
	begin = clock__now_ns();
	ASSERT_EQ(0, proc_fallback__look(fallback, &pid, 1));
	pthread_barrier_wait(&truth.done);
	ASSERT_EQ(0, proc_fallback__look(fallback, &pid, 1));
	end = clock__now_ns();
	ASSERT_EQ(0, proc_fallback__fill(fallback, &everybody, &data));
	EXPECT_TRUE(data.from_proc);
	EXPECT_EQ(2, data.nr_threads);
	EXPECT_EQ(1, data.nr_processes);
	task = find(&data, truth.tid);
	ASSERT_NE(NULL, task);
	EXPECT_STREQ("burner", task->comm);
	EXPECT_LE(truth.cpu_ns * tolerance__seen_percent() / 100, task->running_ns);
	EXPECT_GE(truth.cpu_ns * 11 / 10 + TOLERANCE_TICK_NS, task->running_ns);
	EXPECT_EQ(task->wall_ns, task->running_ns + task->runnable_ns + task->blocked_ns);
	/* The kernel adds CPU time at ticks: the second look has some from before the first. */
	EXPECT_GE(end - begin + TOLERANCE_TICK_NS, task->wall_ns);
	/* This thread only waited. */
	task = find(&data, pid);
	ASSERT_NE(NULL, task);
	EXPECT_LE(truth.cpu_ns * (tolerance__seen_percent() - 10) / 100,
		  task->blocked_ns + task->runnable_ns);
	EXPECT_LE(1, task->offcpu.count);
	stat_data__free(&data);
	/* A thread alone, as with -t. */
	ASSERT_EQ(0, proc_fallback__fill(fallback,
					 &(struct capture_targets){ .tids = &truth.tid,
								    .nr_tids = 1 },
					 &data));
	EXPECT_EQ(1, data.nr_threads);
	EXPECT_NE(NULL, find(&data, truth.tid));
	stat_data__free(&data);

	pthread_barrier_wait(&truth.end);
	pthread_join(thread, NULL);
	while (syscall(SYS_tgkill, pid, truth.tid, 0) == 0)
		usleep(1000);
	ASSERT_EQ(0, proc_fallback__look(fallback, &pid, 1));
	ASSERT_EQ(0, proc_fallback__fill(fallback, &everybody, &data));
	EXPECT_EQ(1, data.nr_threads);
	EXPECT_EQ(NULL, find(&data, truth.tid));
	EXPECT_EQ(2, data.total.threads);
	EXPECT_EQ(1, data.total.ended_threads);
	EXPECT_LE(truth.cpu_ns * 9 / 10, data.total.running_ns);
	EXPECT_EQ(data.total.wall_ns,
		  data.total.running_ns + data.total.runnable_ns + data.total.blocked_ns);
	stat_data__free(&data);
	proc_fallback__delete(fallback);
}

/* Born during the measurement: all of its time counts. */
TEST(a_thread_that_is_new)
{
	struct proc_fallback *fallback = proc_fallback__new();
	struct stat_data data = { 0 };
	const struct stat_task *task;
	pid_t pid = getpid();
	struct truth truth;
	pthread_t thread;

	ASSERT_NE(NULL, fallback);
	ASSERT_EQ(0, proc_fallback__look(fallback, &pid, 1));
	start(&truth, &thread);
	pthread_barrier_wait(&truth.ready);
	pthread_barrier_wait(&truth.done);
	ASSERT_EQ(0, proc_fallback__look(fallback, &pid, 1));
	ASSERT_EQ(0, proc_fallback__fill(fallback, &everybody, &data));
	task = find(&data, truth.tid);
	ASSERT_NE(NULL, task);
	EXPECT_LE(truth.cpu_ns * tolerance__seen_percent() / 100, task->running_ns);
	stat_data__free(&data);
	/* A descendant of whoever is a target, unless those are left out. */
	for (int left_out = 0; left_out < 2; left_out++) {
		const struct capture_targets targets = { .tids = &pid, .nr_tids = 1,
							 .no_inherit = left_out };

		ASSERT_EQ(0, proc_fallback__fill(fallback, &targets, &data));
		EXPECT_EQ(left_out ? 1 : 2, data.nr_threads);
		stat_data__free(&data);
	}
	pthread_barrier_wait(&truth.end);
	pthread_join(thread, NULL);
	proc_fallback__delete(fallback);
}

TEST(nobody)
{
	struct proc_fallback *fallback = proc_fallback__new();
	struct stat_data data = { 0 };
	pid_t gone = 0x3fffffff;

	ASSERT_NE(NULL, fallback);
	ASSERT_EQ(0, proc_fallback__look(fallback, &gone, 1));
	ASSERT_EQ(0, proc_fallback__look(fallback, NULL, 0));
	ASSERT_EQ(0, proc_fallback__fill(fallback, &everybody, &data));
	EXPECT_EQ(0, data.nr_threads);
	EXPECT_EQ(0, data.total.wall_ns);
	stat_data__free(&data);
	proc_fallback__delete(fallback);
	proc_fallback__delete(NULL);
}

TEST_HARNESS_MAIN
