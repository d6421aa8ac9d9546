/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of other processes, walked by unwind tables, against those that gdb finds, address for
 * address. The programs are as distributions build them, without frame pointers.
 * tests: parallel
 */
#include "top/stack_walker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/harness.h"
#include "common/stopped.h"
#include "common/tolerance.h"

FIXTURE(walker)
{
	struct stopped stopped;
	struct stack_walker *walker;
	struct user_request request;
	struct user_stack stack;
	uint64_t truth[CAPTURE_MAX_FRAMES];
	int nr_truth;
};

FIXTURE_SETUP(walker)
{
#ifndef __x86_64__
	SKIP(return, "only x86-64 has tables");
#endif
	SKIP_FOR(geteuid() ? "files of other processes are read as root" : NULL);
	self->walker = stack_walker__new(true);
	ASSERT_NE(NULL, self->walker);
}

FIXTURE_TEARDOWN(walker)
{
	stack_walker__delete(self->walker);
	stopped__free(&self->stopped);
}

typedef FIXTURE_DATA(walker) data;

/* NULL, or why the test cannot be: the reason of a SKIP. */
static const char *block(data *self, const char *const *argv, long nr, bool other)
{
	int err = stopped__start(&self->stopped, argv);

	if (!err)
		err = stopped__await(&self->stopped, nr, other);
	if (err)
		return err == -ENOENT ? "the program is not there" : "it does not block";
	self->nr_truth = stopped__ask_gdb(&self->stopped, self->truth, CAPTURE_MAX_FRAMES, false);
	if (self->nr_truth <= 0)
		return "gdb is not installed, or must not attach here";
	if (stopped__await(&self->stopped, nr, other) || stopped__take(&self->stopped, 4096))
		return "it does not block any more";
	self->request = (struct user_request){ .pid = self->stopped.pid,
					       .tid = self->stopped.tid,
					       .time = clock__now_ns(), .program = 1 };
	memcpy(self->request.regs, self->stopped.regs.r, sizeof(self->request.regs));
	return NULL;
}

/* Walks once all is known that there is to know. */
static uint32_t walk(data *self)
{
	uint64_t end = tolerance__deadline();
	uint32_t nr = 0;

	while (!nr && clock__now_ns() < end) {
		nr = stack_walker__walk(self->walker, &self->request, false, &self->stack);
		if (!nr && !stack_walker__learn(self->walker, clock__now_ns() + NSEC_PER_SEC))
			break;
	}
	return nr;
}

/* How many of the first frames are gdb's; prints both where they part. */
static uint32_t nr_equal(const data *self, uint32_t found)
{
	uint32_t nr = 0;

	while (nr < found && (int)nr < self->nr_truth && self->stack.ips[nr] == self->truth[nr])
		nr++;
	if (nr == found && (int)nr == self->nr_truth)
		return nr;
	for (uint32_t i = 0; i < found || (int)i < self->nr_truth; i++)
		fprintf(stderr, "# %3u ours %16llx gdb's %16llx\n", i,
			i < found ? (unsigned long long)self->stack.ips[i] : 0,
			(int)i < self->nr_truth ? (unsigned long long)self->truth[i] : 0);
	return nr;
}

/* Not a function: the harness's words need a test around them. */
#define EXPECT_THE_TRUTH(argv_, call_, other_, least_)						   \
	do {											   \
		uint32_t nr_;									   \
												   \
		SKIP_FOR(block(self, argv_, call_, other_));					   \
		nr_ = walk(self);								   \
		EXPECT_EQ((uint32_t)self->nr_truth, nr_);					   \
		EXPECT_EQ((uint32_t)self->nr_truth, nr_equal(self, nr_));			   \
		EXPECT_LE(least_, self->nr_truth);						   \
		EXPECT_EQ(USER_STACK_WHOLE, self->stack.again);					   \
	} while (0)

TEST_F(walker, stock_python)
{
	const char *const argv[] = {
		"/usr/bin/python3", "-S", "-c",
		"import sys\ndef f(n):\n  return f(n - 1) if n else sys.stdin.read()\nf(5)\n", NULL
	};

	EXPECT_THE_TRUTH(argv, SYS_read, false, 9);
}

TEST_F(walker, c_without_frame_pointers)
{
	const char *const argv[] = { "nofp", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 22);
}

TEST_F(walker, a_program_with_only_debug_frame)
{
	const char *const argv[] = { "nofp_debug", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 22);
}

TEST_F(walker, cplusplus)
{
	const char *const argv[] = { "nofp_cpp", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 9);
}

TEST_F(walker, another_thread)
{
	const char *const argv[] = { "nofp", "threads", NULL };

	EXPECT_THE_TRUTH(argv, SYS_futex, true, 4);
}

TEST_F(walker, a_static_position_independent_program)
{
	const char *const argv[] = { "nofp_static", "nested", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 22);
}

TEST_F(walker, a_signal_handler)
{
	const char *const argv[] = { "nofp", "handler", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 6);
}

TEST_F(walker, a_signal_handler_on_a_stack_of_its_own)
{
	const char *const argv[] = { "nofp", "altstack", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 6);
}

TEST_F(walker, a_return_address_in_a_register)
{
	const char *const argv[] = { "popped", NULL };

	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 3);
}

/* Nothing is kept of the program before. */
TEST_F(walker, a_process_that_runs_another_program)
{
	const char *const argv[] = { "/bin/bash", "-c", "read x; exec sleep 60", NULL };
	uint32_t nr;

	SKIP_FOR(block(self, argv, SYS_read, false));
	ASSERT_EQ((uint32_t)self->nr_truth, walk(self));
	ASSERT_EQ(1, write(self->stopped.in, "\n", 1));
	ASSERT_EQ(0, stopped__await(&self->stopped, SYS_clock_nanosleep, false));
	self->nr_truth = stopped__ask_gdb(&self->stopped, self->truth, CAPTURE_MAX_FRAMES, false);
	ASSERT_LT(2, self->nr_truth);
	ASSERT_EQ(0, stopped__take(&self->stopped, 4096));
	memcpy(self->request.regs, self->stopped.regs.r, sizeof(self->request.regs));
	self->request.program = 2;
	nr = walk(self);
	EXPECT_EQ((uint32_t)self->nr_truth, nr);
	EXPECT_EQ(nr, nr_equal(self, nr));
}

/* The frames up to the first missing table are returned all the same. */
TEST_F(walker, a_walk_that_cannot_wait)
{
	const char *const argv[] = { "nofp", "nested", NULL };

	SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
	EXPECT_EQ(0, stack_walker__walk(self->walker, &self->request, false, &self->stack));
	EXPECT_LE(1, stack_walker__walk(self->walker, &self->request, true, &self->stack));
	EXPECT_EQ(self->truth[0], self->stack.ips[0]);
	EXPECT_EQ(USER_STACK_SOON, self->stack.again);
}

static void kill_it(data *self)
{
	kill(self->stopped.pid, SIGKILL);
	waitpid(self->stopped.pid, NULL, 0);
}

/* It ends before its mappings, or its files, are read: the next process is walked all the same. */
TEST_F(walker, a_process_that_ends_before_it_is_asked)
{
	const char *const argv[] = { "nofp", "nested", NULL };
	const uint64_t long_enough = UINT64_MAX / 2;

	for (int rounds = 0; rounds < 2; rounds++) {
		SKIP_FOR(block(self, argv, STOPPED_IN_PAUSE, false));
		EXPECT_EQ(0, stack_walker__walk(self->walker, &self->request, false,
						&self->stack));
		for (int i = 0; i < rounds; i++) {
			EXPECT_TRUE(stack_walker__learn(self->walker, long_enough));
			EXPECT_EQ(0, stack_walker__walk(self->walker, &self->request, false,
							&self->stack));
		}
		kill_it(self);
		while (stack_walker__learn(self->walker, long_enough))
			;
		EXPECT_EQ(1, stack_walker__walk(self->walker, &self->request, true,
						&self->stack));
		stopped__free(&self->stopped);
	}
	/* The files were asked for in vain a moment ago. */
	usleep(150000);
	EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 22);
}

/* The same name, and the same inode. */
TEST_F(walker, a_program_that_was_built_anew)
{
	char path[] = "/tmp/denet-test-XXXXXX", command[256], file[128];
	const char *const argv[] = { path, "nested", NULL };
	static const char *const builds[] = { "nofp", "nofp_debug", "nofp_static" };
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	fchmod(fd, 0700);
	close(fd);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		ASSERT_EQ(0, stopped__path(builds[i], file, sizeof(file)));
		snprintf(command, sizeof(command), "cat %s >%s", file, path);
		ASSERT_EQ(0, system(command));
		EXPECT_THE_TRUTH(argv, STOPPED_IN_PAUSE, false, 22);
		stopped__free(&self->stopped);
	}
	unlink(path);
}

TEST_HARNESS_MAIN
