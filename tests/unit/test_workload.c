/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "common/process_state.h"
#include "session/signals.h"
#include "session/workload.h"

static char *const false_argv[] = { (char *)(uintptr_t) "false", NULL };

FIXTURE(workload)
{
	struct signals *signals;
	struct workload_options options;
};

FIXTURE_SETUP(workload)
{
	int err;

	self->signals = signals__new(&err);
	ASSERT_EQ(0, err);
	self->options = (struct workload_options){ .signals = self->signals };
}

FIXTURE_TEARDOWN(workload)
{
	signals__delete(self->signals);
}

/* Runs a shell line as COMMAND to its end; its status. */
static int run_shell(const struct workload_options *base, const char *line)
{
	char *const argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			       (char *)(uintptr_t)line, NULL };
	struct workload_options options = *base;
	struct workload *workload;
	int status = -1, err;

	options.argv = argv;
	workload = workload__new(&options, &err);
	if (workload && !workload__release(workload)) {
		workload__wait(workload);
		status = workload__status(workload);
	}
	workload__delete(workload);
	return status;
}

TEST_F(workload, a_held_command_is_stopped_and_carries_its_name)
{
	char *const argv[] = { (char *)(uintptr_t) "/bin/true", NULL };
	struct workload *workload;
	char path[64], comm[32] = "";
	FILE *file;
	int err;

	self->options.argv = argv;
	workload = workload__new(&self->options, &err);
	ASSERT_NE(NULL, workload);
	EXPECT_EQ('T', process_state__of(workload__pid(workload)));
	snprintf(path, sizeof(path), "/proc/%d/comm", workload__pid(workload));
	file = fopen(path, "re");
	ASSERT_NE(NULL, file);
	EXPECT_NE(NULL, fgets(comm, sizeof(comm), file));
	fclose(file);
	EXPECT_STREQ("true\n", comm);
	EXPECT_FALSE(workload__ended(workload));
	workload__delete(workload);
}

TEST_F(workload, a_command_that_is_never_released_does_not_run)
{
	char name[] = "/tmp/denet-test-XXXXXX";
	struct workload *workload;
	int fd = mkstemp(name), err;
	char *const argv[] = { (char *)(uintptr_t) "rm", name, NULL };
	pid_t pid;

	ASSERT_LE(0, fd);
	close(fd);
	self->options.argv = argv;
	workload = workload__new(&self->options, &err);
	ASSERT_NE(NULL, workload);
	pid = workload__pid(workload);
	workload__delete(workload);
	EXPECT_EQ(-1, kill(pid, 0));
	EXPECT_EQ(0, unlink(name));
}

TEST_F(workload, a_sigcont_from_others_does_not_run_it_before_its_time)
{
	struct workload *workload;
	int err;

	self->options.argv = false_argv;
	workload = workload__new(&self->options, &err);
	ASSERT_NE(NULL, workload);
	ASSERT_EQ(0, kill(workload__pid(workload), SIGCONT));
	/* It now waits for the byte. */
	while (process_state__of(workload__pid(workload)) != 'S')
		usleep(1000);
	ASSERT_EQ(0, workload__release(workload));
	workload__wait(workload);
	EXPECT_EQ(1, workload__status(workload));
	workload__delete(workload);
}

TEST_F(workload, the_status_is_the_exit_code_or_128_and_the_signal)
{
	EXPECT_EQ(0, run_shell(&self->options, "exit 0"));
	EXPECT_EQ(7, run_shell(&self->options, "exit 7"));
	EXPECT_EQ(127, run_shell(&self->options, "exit 127"));
	EXPECT_EQ(128 + SIGTERM, run_shell(&self->options, "kill -TERM $$"));
	EXPECT_EQ(128 + SIGKILL, run_shell(&self->options, "kill -KILL $$"));
}

/*
 * The lines SigBlk and SigIgn with which this program was started, as a shell's test. It starts no
 * program: while dash does, it blocks all signals, and the program may look before it has stopped.
 */
static char started_with[2][192];

static void __attribute__((constructor)) note_signals(void)
{
	char line[64];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file)) {
		int which = !strncmp(line, "SigBlk:", 7) ? 0 : !strncmp(line, "SigIgn:", 7) ? 1 : 2;

		line[strcspn(line, "\n")] = '\0';
		if (which < 2)
			snprintf(started_with[which], sizeof(started_with[which]),
				 "while IFS= read -r line; do [ \"$line\" = '%s' ] && exit 0; "
				 "done </proc/$$/status; exit 1",
				 line);
	}
	if (file)
		fclose(file);
}

TEST_F(workload, the_command_has_the_signals_that_we_were_started_with)
{
	EXPECT_EQ(0, run_shell(&self->options, started_with[0]));
	EXPECT_EQ(0, run_shell(&self->options, started_with[1]));
}

TEST_F(workload, the_commands_stdout_can_go_to_stderr)
{
	int fds[2], saved;
	char text[16] = "";

	ASSERT_EQ(0, pipe2(fds, O_CLOEXEC));
	saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	dup2(fds[1], STDERR_FILENO);
	self->options.stdout_to_stderr = true;
	run_shell(&self->options, "echo here");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	EXPECT_EQ(5, read(fds[0], text, sizeof(text)));
	EXPECT_STREQ("here\n", text);
	close(fds[0]);
}

TEST_F(workload, an_exec_that_fails_is_told_with_its_errno)
{
	char name[] = "/tmp/denet-test-XXXXXX";
	struct workload *workload;
	int fd = mkstemp(name), err;
	char *const argv[] = { name, NULL };

	ASSERT_LE(0, fd);
	ASSERT_LT(0, dprintf(fd, "#!/no/such/interpreter\n"));
	ASSERT_EQ(0, fchmod(fd, 0700));
	close(fd);
	EXPECT_EQ(0, workload__check(name));
	self->options.argv = argv;
	workload = workload__new(&self->options, &err);
	ASSERT_NE(NULL, workload);
	ASSERT_EQ(0, workload__release(workload));
	workload__wait(workload);
	EXPECT_EQ(-ENOENT, workload__exec_error(workload));
	workload__delete(workload);
	unlink(name);
}

TEST_F(workload, what_cannot_be_run_is_known_before)
{
	EXPECT_EQ(-ENOENT, workload__check(""));
	EXPECT_EQ(-ENOENT, workload__check("denet-no-such-command"));
	EXPECT_EQ(-ENOENT, workload__check("/no/such/command"));
	EXPECT_EQ(-EACCES, workload__check("/etc"));
	EXPECT_EQ(-EACCES, workload__check("/etc/passwd"));
	EXPECT_EQ(0, workload__check("sh"));
	EXPECT_EQ(0, workload__check("/bin/sh"));
}

/* The number of the signal that is read within some seconds; 0: none came. */
static int wait_for_signal(struct signals *signals)
{
	struct pollfd poller = { .fd = signals__fd(signals), .events = POLLIN };

	return poll(&poller, 1, 5000) == 1 ? signals__read(signals) : 0;
}

TEST_F(workload, the_signals_that_end_a_recording_are_read)
{
	EXPECT_EQ(0, signals__read(self->signals));
	kill(getpid(), SIGINT);
	EXPECT_EQ(SIGINT, wait_for_signal(self->signals));
	kill(getpid(), SIGTERM);
	EXPECT_EQ(SIGTERM, wait_for_signal(self->signals));
	kill(getpid(), SIGHUP);
	EXPECT_EQ(SIGHUP, wait_for_signal(self->signals));
}

TEST_F(workload, the_end_of_a_child_wakes_but_ends_nothing)
{
	struct pollfd poller = { .fd = signals__fd(self->signals), .events = POLLIN };
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	EXPECT_EQ(1, poll(&poller, 1, 5000));
	EXPECT_EQ(0, signals__read(self->signals));
	waitpid(pid, NULL, 0);
}

TEST(a_hangup_does_not_end_what_nohup_started)
{
	struct signals *signals;
	int err;

	signal(SIGHUP, SIG_IGN);
	signals = signals__new(&err);
	ASSERT_NE(NULL, signals);
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGTERM);
	EXPECT_EQ(SIGTERM, wait_for_signal(signals));
	signals__delete(signals);
}

TEST(a_second_signal_exits_at_once_and_a_hangup_does_not)
{
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		struct signals *signals = signals__new(&err);

		signals__finish(signals, 0, 0);
		kill(getpid(), SIGHUP);
		kill(getpid(), SIGINT);
		_exit(99);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
}

TEST(a_second_signal_that_came_before_the_finish_counts)
{
	int status, err;
	pid_t pid = fork();

	if (!pid) {
		struct signals *signals = signals__new(&err);

		kill(getpid(), SIGINT);
		kill(getpid(), SIGTERM);
		if (!signals__read(signals))
			_exit(98);
		signals__finish(signals, 0, 0);
		_exit(99);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
