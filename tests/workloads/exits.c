/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exits MODE: tasks that end in unusual orders. Prints a line "life PID TID NAME" for each
 * whose off-CPU time is of interest.
 *   thread  a thread sleeps 30 ms in wait_last and exits, twenty times
 *   exec    a thread is blocked in wait_sibling for good when the process becomes naps
 *   kill    a child is blocked in wait_killed for good until it is killed after 50 ms
 *   reuse   pairs of processes with the same PID: "former" sleeps 20 ms in wait_former and
 *           exits, then "latter" sleeps 20 ms in wait_latter; five pairs
 */
#include "workload.h"

#include <libgen.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#define MS WORKLOAD_NSEC_PER_MSEC

KNOWN static void wait_last(void)
{
	workload__nanosleep(30 * MS);
}

KNOWN static void wait_sibling(void)
{
	workload__nanosleep(3600 * WORKLOAD_NSEC_PER_SEC);
}

KNOWN static void wait_killed(void)
{
	workload__nanosleep(3600 * WORKLOAD_NSEC_PER_SEC);
}

KNOWN static void wait_former(void)
{
	workload__nanosleep(20 * MS);
}

KNOWN static void wait_latter(void)
{
	workload__nanosleep(20 * MS);
}

static void live_as(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("life %d %d %s\n", (int)getpid(), (int)workload__tid(), name);
	fflush(stdout);
}

KNOWN static void *start_last(void *arg)
{
	live_as("brief");
	wait_last();
	return arg;
}

KNOWN static void *start_sibling(void *arg)
{
	live_as("sibling");
	wait_sibling();
	return arg;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, function, NULL);

	if (err)
		workload__fail("pthread_create", err);
	return thread;
}

static void run_threads(void)
{
	for (int i = 0; i < 20; i++)
		pthread_join(start(start_last), NULL);
}

static void run_exec(char *self)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/naps", dirname(self));
	start(start_sibling);
	/* Long enough for it to sleep: that its block is 40 ms is all that is asked for. */
	workload__nanosleep(50 * MS);
	execl(path, "naps", "1", "3", "10", NULL);
	workload__fail(path, errno);
}

static void run_kill(void)
{
	pid_t child = fork();

	if (child < 0)
		workload__fail("fork", errno);
	if (!child) {
		live_as("victim");
		wait_killed();
		_exit(0);
	}
	workload__nanosleep(50 * MS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A child with the PID that is asked for; 0: any. */
static pid_t fork_as(pid_t pid)
{
	pid_t ids[1] = { pid };
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uint64_t)(uintptr_t)ids : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (child < 0)
		workload__fail("clone3", errno);
	return child;
}

static void run_reuse(void)
{
	pid_t pid;

	for (int i = 0; i < 5; i++) {
		pid = fork_as(0);
		if (!pid) {
			live_as("former");
			wait_former();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		if (!fork_as(pid)) {
			live_as("latter");
			wait_latter();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "thread"))
		run_threads();
	else if (!strcmp(mode, "exec"))
		run_exec(argv[0]);
	else if (!strcmp(mode, "kill"))
		run_kill();
	else if (!strcmp(mode, "reuse"))
		run_reuse();
	else
		workload__fail("exits thread|exec|kill|reuse", EINVAL);
	return 0;
}
