/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets given by name, against what the kernel shows of them. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#include "base/log.h"
#include "session/targets.h"

FIXTURE(targets)
{
	pid_t alive; /* a child that waits to be killed */
	pid_t ended; /* one that nobody has waited for */
	char warnings[2048];
	char errors[1024];
};

static void take_line(void *ctx, enum log_level level, const char *text)
{
	FIXTURE_DATA(targets) *self = ctx;
	char *to = level == LOG_ERROR ? self->errors : self->warnings;
	size_t size = level == LOG_ERROR ? sizeof(self->errors) : sizeof(self->warnings);
	size_t len = strlen(to);

	snprintf(to + len, size - len, "%s", text);
}

FIXTURE_SETUP(targets)
{
	siginfo_t info;

	self->alive = fork();
	ASSERT_LE(0, self->alive);
	if (!self->alive) {
		pause();
		_exit(0);
	}
	self->ended = fork();
	ASSERT_LE(0, self->ended);
	if (!self->ended)
		_exit(0);
	ASSERT_EQ(0, waitid(P_PID, (id_t)self->ended, &info, WEXITED | WNOWAIT));
	log__set_sink(take_line, self);
}

FIXTURE_TEARDOWN(targets)
{
	log__set_sink(NULL, NULL);
	kill(self->alive, SIGKILL);
	waitpid(self->alive, NULL, 0);
	waitpid(self->ended, NULL, 0);
}

TEST_F(targets, what_the_kernel_shows_is_no_word_worth)
{
	const pid_t ids[] = { self->alive };
	const struct capture_targets named = { .pids = ids, .nr_pids = 1, .tids = ids,
						 .nr_tids = 1 };
	const struct capture_task task = { .pid = self->alive, .tid = self->alive, .target = true };

	EXPECT_EQ(0, targets__look(&named, &task, 1, "recording"));
	EXPECT_STREQ("", self->warnings);
	EXPECT_STREQ("", self->errors);
}

TEST_F(targets, who_lives_and_is_not_shown_is_an_error_by_pid_and_by_tid)
{
	const pid_t ids[] = { self->alive };
	struct capture_targets named = { .pids = ids, .nr_pids = 1 };
	const struct capture_task other = { .pid = 1, .tid = 1, .target = true };

	EXPECT_EQ(-ESRCH, targets__look(&named, &other, 1, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "does not show this process to BPF programs"));
	EXPECT_NE(NULL, strstr(self->errors, "none of the targets can be observed"));
	named = (struct capture_targets){ .tids = ids, .nr_tids = 1 };
	self->warnings[0] = self->errors[0] = '\0';
	EXPECT_EQ(-ESRCH, targets__look(&named, NULL, 0, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "does not show this thread to BPF programs"));
	EXPECT_NE(NULL, strstr(self->errors, "none of the targets can be observed"));
}

TEST_F(targets, one_of_two_that_is_not_shown_is_but_a_warning)
{
	const pid_t ids[] = { self->alive, 4194304 };
	const struct capture_targets named = { .pids = ids, .nr_pids = 2 };
	const struct capture_task shown = { .pid = ids[1], .tid = 7, .target = true };

	EXPECT_EQ(0, targets__look(&named, &shown, 1, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "does not show"));
	EXPECT_STREQ("", self->errors);
}

TEST_F(targets, who_has_ended_since_it_was_named_has_words_of_its_own_and_is_no_error)
{
	const pid_t ids[] = { self->ended };
	struct capture_targets named = { .pids = ids, .nr_pids = 1 };

	EXPECT_EQ(0, targets__look(&named, NULL, 0, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "ended before the recording began"));
	EXPECT_EQ(NULL, strstr(self->warnings, "does not show"));
	EXPECT_STREQ("", self->errors);
	waitpid(self->ended, NULL, 0);
	self->warnings[0] = '\0';
	EXPECT_EQ(0, targets__look(&named, NULL, 0, "measurement"));
	EXPECT_NE(NULL, strstr(self->warnings, "ended before the measurement began"));
}

TEST_F(targets, a_kernel_thread_and_this_program_are_told_for_what_they_are)
{
	const pid_t ids[] = { self->alive, getpid() };
	const struct capture_targets named = { .pids = ids, .nr_pids = 2 };
	const struct capture_task kthread = { .pid = ids[0], .tid = ids[0], .kthread = true };

	EXPECT_EQ(-ESRCH, targets__look(&named, &kthread, 1, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "--kernel-threads"));
	EXPECT_NE(NULL, strstr(self->warnings, "does not observe itself"));
	EXPECT_EQ(NULL, strstr(self->warnings, "does not show"));
}

TEST_F(targets, children_that_are_no_targets_are_counted_down_to_the_last_generation)
{
	const pid_t ids[] = { 100 };
	const struct capture_targets named = { .pids = ids, .nr_pids = 1 };
	struct capture_task tasks[] = {
		{ .pid = 100, .tid = 100, .ppid = 1, .target = true },
		{ .pid = 101, .tid = 101, .ppid = 100 },
		{ .pid = 101, .tid = 105, .ppid = 100 }, /* a thread is no further child */
		{ .pid = 102, .tid = 102, .ppid = 101 },
		{ .pid = 103, .tid = 103, .ppid = 1 },
		{ .pid = getpid(), .tid = getpid(), .ppid = 100 },
		{ .pid = 104, .tid = 104, .ppid = getpid() }, /* COMMAND */
	};

	EXPECT_EQ(0, targets__look(&named, tasks, 7, "recording"));
	EXPECT_NE(NULL, strstr(self->warnings, "2 living children not included (--children)"));
	self->warnings[0] = '\0';
	tasks[1].target = tasks[2].target = tasks[3].target = true;
	EXPECT_EQ(0, targets__look(&named, tasks, 7, "recording"));
	EXPECT_STREQ("", self->warnings);
}

TEST_HARNESS_MAIN
