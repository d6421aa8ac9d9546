/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/units.h"
#include "common/tolerance.h"


static int send_counts(void *ctx, struct child_out *out)
{
	uint32_t nr = *(uint32_t *)ctx;
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = child_out__put(out, i & 7, &i, sizeof(i));
	return err;
}

static int fail_plainly(void *ctx, struct child_out *out)
{
	(void)ctx;
	(void)out;
	return -ENXIO;
}

static int block_for_ever(void *ctx, struct child_out *out)
{
	(void)ctx;
	child_out__put(out, 1, "before", 6);
	child_out__flush(out);
	while (pause())
		;
	return 0;
}

static int die_at_once(void *ctx, struct child_out *out)
{
	(void)ctx;
	child_out__put(out, 1, "half", 4);
	child_out__flush(out);
	_exit(0);
}

static int die_of_a_signal(void *ctx, struct child_out *out)
{
	(void)out;
	raise(*(const int *)ctx);
	return 0;
}

static int send_greatest(void *ctx, struct child_out *out)
{
	char *data = calloc(1, CHILD_MESSAGE_MAX + 1);
	int err;

	(void)ctx;
	if (!data)
		return -ENOMEM;
	data[CHILD_MESSAGE_MAX - 1] = 'z';
	err = child_out__put(out, 2, data, CHILD_MESSAGE_MAX);
	if (!err && child_out__put(out, 2, data, CHILD_MESSAGE_MAX + 1) != -EMSGSIZE)
		err = -EBADE;
	free(data);
	return err;
}

TEST(every_message_arrives_in_order_with_its_type)
{
	uint32_t nr = 100000, value;
	struct child_message message;
	struct child *child;
	int err;

	child = child__new(send_counts, &nr, &err);
	ASSERT_NE(NULL, child);
	for (uint32_t i = 0; i < nr; i++) {
		ASSERT_EQ(1, child__receive(child, tolerance__deadline(), &message));
		ASSERT_EQ(sizeof(value), message.size);
		memcpy(&value, message.data, sizeof(value));
		ASSERT_EQ(i, value);
		ASSERT_EQ(i & 7, message.type);
	}
	EXPECT_EQ(0, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__delete(child));
}

TEST(the_signal_that_ended_it_is_told)
{
	int signals[] = { SIGKILL, SIGUSR1 };
	struct child_message message;
	struct child *child;
	int err;

	for (size_t i = 0; i < 2; i++) {
		child = child__new(die_of_a_signal, &signals[i], &err);
		ASSERT_NE(NULL, child);
		EXPECT_EQ(-ECHILD, child__receive(child, tolerance__deadline(), &message));
		EXPECT_EQ(signals[i], child__signal(child));
		EXPECT_EQ(0, child__delete(child));
	}
}

TEST(result_of_the_function_is_told_from_its_death)
{
	struct child_message message;
	struct child *child;
	int err;

	child = child__new(fail_plainly, NULL, &err);
	ASSERT_NE(NULL, child);
	EXPECT_EQ(-ENXIO, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__delete(child));

	child = child__new(die_at_once, NULL, &err);
	ASSERT_NE(NULL, child);
	EXPECT_EQ(1, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(4, message.size);
	EXPECT_EQ(-ECHILD, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__signal(child));
	EXPECT_EQ(0, child__delete(child));
}

TEST(greatest_message_passes_and_one_byte_more_is_refused)
{
	struct child_message message;
	struct child *child;
	int err;

	child = child__new(send_greatest, NULL, &err);
	ASSERT_NE(NULL, child);
	ASSERT_EQ(1, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(CHILD_MESSAGE_MAX, message.size);
	EXPECT_EQ('z', ((const char *)message.data)[CHILD_MESSAGE_MAX - 1]);
	EXPECT_EQ(0, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__delete(child));
}

TEST(blocked_child_times_out_and_is_killed_and_reaped)
{
	struct child_message message;
	struct child *child;
	pid_t pid;
	int err;

	child = child__new(block_for_ever, NULL, &err);
	ASSERT_NE(NULL, child);
	pid = child__pid(child);
	ASSERT_EQ(1, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(-ETIMEDOUT,
		  child__receive(child, clock__now_ns() + 5 * NSEC_PER_MSEC, &message));
	/* A deadline that is over does not wait, nor does it block. */
	EXPECT_EQ(-ETIMEDOUT, child__receive(child, 0, &message));
	EXPECT_EQ(0, child__delete(child));
	EXPECT_EQ(-1, kill(pid, 0));
	EXPECT_EQ(ESRCH, errno);
	EXPECT_EQ(0, child__delete(NULL));
}

TEST(what_arrived_before_the_deadline_is_delivered_after_it)
{
	struct child_message message;
	uint32_t nr = 1;
	struct child *child;
	siginfo_t info;
	int err;

	child = child__new(send_counts, &nr, &err);
	ASSERT_NE(NULL, child);
	ASSERT_EQ(0, waitid(P_PID, (id_t)child__pid(child), &info, WEXITED | WNOWAIT));
	EXPECT_EQ(1, child__receive(child, 0, &message));
	EXPECT_EQ(0, child__receive(child, 0, &message));
	EXPECT_EQ(0, child__delete(child));
}

static int stop_oneself(void *ctx, struct child_out *out)
{
	(void)ctx;
	(void)out;
	raise(SIGSTOP);
	return 0;
}

TEST(stopped_child_is_killed_too)
{
	struct child *child;
	siginfo_t info;
	int err;

	child = child__new(stop_oneself, NULL, &err);
	ASSERT_NE(NULL, child);
	ASSERT_EQ(0, waitid(P_PID, (id_t)child__pid(child), &info, WSTOPPED | WNOWAIT));
	EXPECT_EQ(0, child__delete(child));
}

static int spin(void *ctx, struct child_out *out)
{
	(void)ctx;
	(void)out;
	for (volatile uint64_t i = 1; i; i++)
		;
	return 0;
}

/* Polls until the child is runnable, or not, some seconds at most. */
static bool becomes_runnable(const struct child *child, bool runnable)
{
	uint64_t end = tolerance__deadline();

	while (child__is_runnable(child) != runnable && clock__now_ns() < end)
		sched_yield();
	return child__is_runnable(child) == runnable;
}

TEST(one_that_wants_a_cpu_is_told_from_one_that_sleeps)
{
	struct child *spinning, *sleeping;
	int err;

	spinning = child__new(spin, NULL, &err);
	ASSERT_NE(NULL, spinning);
	sleeping = child__new(block_for_ever, NULL, &err);
	ASSERT_NE(NULL, sleeping);
	EXPECT_TRUE(becomes_runnable(spinning, true));
	EXPECT_TRUE(becomes_runnable(sleeping, false));
	child__delete(spinning);
	child__delete(sleeping);
}

/* On the first CPU that it may use. */
static int pin_oneself(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

static int spin_in_one_place(void *ctx, struct child_out *out)
{
	int err = pin_oneself();

	if (!err)
		err = child_out__put(out, 1, "there", 5);
	if (!err)
		err = child_out__flush(out);
	return err ? err : spin(ctx, out);
}

/* Computes for 20 ms where another one spins, which has 68 times its weight. */
static int compute_where_another_spins(void *ctx, struct child_out *out)
{
	int err = pin_oneself();
	struct timespec cpu = { 0 };

	(void)ctx;
	if (!err && nice(19) < 0)
		err = -EPERM;
	while (!err && !cpu.tv_sec && cpu.tv_nsec < 20 * (long)NSEC_PER_MSEC)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return err ? err : child_out__put(out, 2, "done", 4);
}

TEST(one_that_only_lacks_a_cpu_is_waited_for)
{
	struct child_message message;
	struct child *spinning, *starving;
	uint64_t begin;
	int err;

	spinning = child__new(spin_in_one_place, NULL, &err);
	ASSERT_NE(NULL, spinning);
	ASSERT_EQ(1, child__receive(spinning, tolerance__deadline(), &message));
	/* It may compute before this process comes back from making it. */
	begin = clock__now_ns();
	starving = child__new(compute_where_another_spins, NULL, &err);
	ASSERT_NE(NULL, starving);
	EXPECT_EQ(1, child__receive_unless_stuck(starving, 100 * NSEC_PER_MSEC,
						 tolerance__deadline(), &message));
	EXPECT_LT(100 * NSEC_PER_MSEC, clock__now_ns() - begin);
	EXPECT_EQ(0, child__receive(starving, tolerance__deadline(), &message));
	child__delete(starving);
	child__delete(spinning);
}

TEST(one_that_sleeps_or_computes_for_too_long_is_stuck)
{
	struct child_message message;
	struct child *spinning, *sleeping;
	uint64_t latest = tolerance__deadline();
	int err;

	sleeping = child__new(block_for_ever, NULL, &err);
	ASSERT_NE(NULL, sleeping);
	ASSERT_EQ(1, child__receive(sleeping, latest, &message));
	EXPECT_TRUE(becomes_runnable(sleeping, false));
	EXPECT_EQ(-ETIMEDOUT,
		  child__receive_unless_stuck(sleeping, NSEC_PER_MSEC, latest, &message));
	spinning = child__new(spin, NULL, &err);
	ASSERT_NE(NULL, spinning);
	EXPECT_EQ(-ETIMEDOUT,
		  child__receive_unless_stuck(spinning, 20 * NSEC_PER_MSEC, latest, &message));
	EXPECT_LE(20 * NSEC_PER_MSEC, child__cpu_ns(spinning));
	EXPECT_GT(latest, clock__now_ns());
	/* The latest time ends the wait whatever the child does. */
	latest = clock__now_ns() + 20 * NSEC_PER_MSEC;
	EXPECT_EQ(-ETIMEDOUT,
		  child__receive_unless_stuck(spinning, NSEC_PER_SEC, latest, &message));
	EXPECT_LE(latest, clock__now_ns());
	EXPECT_EQ(0, child__delete(sleeping));
	EXPECT_EQ(0, child__delete(spinning));
}

TEST(delete_is_well_where_sigchld_is_ignored)
{
	struct child *child;
	int err;

	signal(SIGCHLD, SIG_IGN);
	child = child__new(block_for_ever, NULL, &err);
	ASSERT_NE(NULL, child);
	EXPECT_EQ(0, child__delete(child));
}

struct interrupter {
	pthread_t target;
	int stop;
};

static void ignore_signal(int sig)
{
	(void)sig;
}

static void *interrupt(void *ctx)
{
	struct interrupter *interrupter = ctx;

	while (!__atomic_load_n(&interrupter->stop, __ATOMIC_RELAXED)) {
		pthread_kill(interrupter->target, SIGUSR1);
		usleep(50);
	}
	return NULL;
}

static int send_counts_slowly(void *ctx, struct child_out *out)
{
	uint32_t nr = *(uint32_t *)ctx;

	for (uint32_t i = 0; i < nr; i++) {
		usleep(500);
		child_out__put(out, i & 7, &i, sizeof(i));
		child_out__flush(out);
	}
	return 0;
}

TEST(signals_neither_lose_nor_repeat_messages)
{
	struct interrupter interrupter = { .target = pthread_self() };
	struct sigaction action = { .sa_handler = ignore_signal };
	struct child_message message;
	uint32_t nr = 100, value;
	struct child *child;
	pthread_t thread;
	int err;

	sigaction(SIGUSR1, &action, NULL);
	child = child__new(send_counts_slowly, &nr, &err);
	ASSERT_NE(NULL, child);
	ASSERT_EQ(0, pthread_create(&thread, NULL, interrupt, &interrupter));
	for (uint32_t i = 0; i < nr; i++) {
		ASSERT_EQ(1, child__receive(child, tolerance__deadline(), &message));
		memcpy(&value, message.data, sizeof(value));
		ASSERT_EQ(i, value);
	}
	EXPECT_EQ(0, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__delete(child));
	__atomic_store_n(&interrupter.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static int list_descriptors(void *ctx, struct child_out *out)
{
	int open_fds = 0;

	(void)ctx;
	for (int fd = 3; fd < 256; fd++)
		open_fds += fcntl(fd, F_GETFD) >= 0;
	return child_out__put(out, 0, &open_fds, sizeof(open_fds));
}

TEST(child_keeps_none_of_the_parents_descriptors)
{
	int files[8], open_fds, err;
	struct child_message message;
	struct child *child;

	for (int i = 0; i < 8; i++)
		files[i] = dup(STDERR_FILENO);
	child = child__new(list_descriptors, NULL, &err);
	ASSERT_NE(NULL, child);
	ASSERT_EQ(1, child__receive(child, tolerance__deadline(), &message));
	memcpy(&open_fds, message.data, sizeof(open_fds));
	EXPECT_EQ(1, open_fds);
	EXPECT_EQ(0, child__delete(child));
	for (int i = 0; i < 8; i++)
		close(files[i]);
}

static int interrupt_oneself(void *ctx, struct child_out *out)
{
	(void)ctx;
	raise(SIGINT);
	raise(SIGTERM);
	raise(SIGHUP);
	return child_out__put(out, 0, "alive", 5);
}

TEST(ctrl_c_does_not_end_the_child)
{
	struct child_message message;
	struct child *child;
	int err;

	child = child__new(interrupt_oneself, NULL, &err);
	ASSERT_NE(NULL, child);
	EXPECT_EQ(1, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__receive(child, tolerance__deadline(), &message));
	EXPECT_EQ(0, child__delete(child));
}

/* All descendants inherit the write end of the pipe: its end of file means that all are gone. */
TEST(child_dies_with_its_parent)
{
	int alive[2], err;
	struct pollfd poll_fd;
	pid_t parent;
	char byte;

	ASSERT_EQ(0, pipe(alive));
	parent = fork();
	if (!parent) {
		/* The child's stderr is the one descriptor that it keeps. */
		dup2(alive[1], STDERR_FILENO);
		if (!child__new(block_for_ever, NULL, &err))
			_exit(1);
		_exit(0);
	}
	close(alive[1]);
	waitpid(parent, NULL, 0);
	poll_fd = (struct pollfd){ .fd = alive[0], .events = POLLIN };
	ASSERT_EQ(1, poll(&poll_fd, 1, 20000));
	EXPECT_EQ(0, read(alive[0], &byte, 1));
	close(alive[0]);
}

TEST_HARNESS_MAIN
