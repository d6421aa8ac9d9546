/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "session/command_code.h"
#include "session/command_path.h"
#include "session/signals.h"

/* What the forked process may use besides, before its exec. */
#define OWN_MARGIN_KB 1024

struct workload {
	pid_t pid;
	int go_fd;   /* a byte written here allows the exec */
	int exec_fd; /* the errno of an exec that failed comes from here */
	bool released;
	bool ended;
	int wait_status;
	uint64_t own_kb;  /* the most memory that this program had when it forked it */
	uint64_t peak_kb; /* of COMMAND, or of its image of this program */
	const char *name;
};

int workload__check(const char *command)
{
	int err;

	free(command_path__find(command, &err));
	if (err == -ENOENT && *command && !command[strspn(command, "0123456789.")])
		pr_err("Workload failed: %s: %s; to record for %s seconds: -- sleep %s", command,
		       strerror(-err), command, command);
	else if (err)
		pr_err("Workload failed: %s: %s", command, strerror(-err));
	return err;
}

/* So that what happens before the exec carries the name that the user knows. */
static void set_name(const char *command)
{
	const char *slash = strrchr(command, '/');

	prctl(PR_SET_NAME, slash ? slash + 1 : command);
}

/*
 * Held by SIGSTOP and not by a read that blocks: the hold would else be the first block
 * that is recorded, and the longest. The byte tells a release from a SIGCONT of others.
 */
static void hold(int go_fd)
{
	char byte;

	raise(SIGSTOP);
	if (read(go_fd, &byte, 1) != 1)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, 0);
}

static void __attribute__((noreturn)) run_child(const struct workload_options *options,
						pid_t parent, int go_fd, int exec_fd)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	set_name(options->argv[0]);
	signals__restore(options->signals);
	if (options->stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (options->map_code)
		command_code__map(options->argv[0]);
	hold(go_fd);
	execvp(options->argv[0], options->argv);
	err = errno;
	/* A failure cannot be reported here. */
	if (write(exec_fd, &err, sizeof(err)) != sizeof(err))
		_exit(1);
	_exit(1);
}

/* A limit of tasks may be reached for a moment only. The PID, 0 in the child, or -errno. */
static pid_t fork_patiently(void)
{
	const struct timespec pause = { .tv_nsec = 10 * NSEC_PER_MSEC };
	uint64_t deadline = clock__now_ns() + NSEC_PER_SEC;
	pid_t pid;

	while ((pid = fork()) < 0 && (errno == EAGAIN || errno == ENOMEM) &&
	       clock__now_ns() < deadline)
		nanosleep(&pause, NULL);
	return pid < 0 ? -errno : pid;
}

/* Forks; both pipes are there, read end first. */
static int workload__fork(struct workload *workload, const struct workload_options *options,
			  int go[2], int exec[2])
{
	pid_t parent = getpid();
	struct rusage usage;
	int status;

	if (!getrusage(RUSAGE_SELF, &usage))
		workload->own_kb = (uint64_t)usage.ru_maxrss;
	workload->pid = fork_patiently();
	if (workload->pid < 0)
		return workload->pid;
	if (!workload->pid) {
		/* The parent's ends must go, or its death would not be seen. */
		close(go[1]);
		close(exec[0]);
		run_child(options, parent, go[0], exec[1]);
	}
	while (waitpid(workload->pid, &status, WUNTRACED) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFSTOPPED(status))
		return 0;
	workload->ended = true;
	return -ECHILD;
}

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		pair[i] = -1;
	}
}

struct workload *workload__new(const struct workload_options *options, int *err)
{
	struct workload *workload = calloc(1, sizeof(*workload));
	int go[2] = { -1, -1 }, exec[2] = { -1, -1 };

	*err = -ENOMEM;
	if (!workload)
		return NULL;
	workload->name = options->argv[0];
	workload->go_fd = workload->exec_fd = -1;
	*err = pipe2(go, O_CLOEXEC) || pipe2(exec, O_CLOEXEC) ? -errno : 0;
	if (!*err)
		*err = workload__fork(workload, options, go, exec);
	if (*err) {
		pr_err("%s cannot be started: %s%s", workload->name, strerror(-*err),
		       *err == -EMFILE	 ? "; raise `ulimit -n`"
		       : *err == -EAGAIN ? "; raise `ulimit -u` or the tasks limit of the cgroup"
					 : "");
		close_pair(go);
		close_pair(exec);
		workload__delete(workload);
		return NULL;
	}
	workload->go_fd = go[1];
	workload->exec_fd = exec[0];
	close(go[0]);
	close(exec[1]);
	return workload;
}

bool workload__is_released(const struct workload *workload)
{
	return workload->released;
}

pid_t workload__pid(const struct workload *workload)
{
	return workload->pid;
}

int workload__release(struct workload *workload)
{
	int err;

	workload->released = true;
	if (write(workload->go_fd, "", 1) == 1 && !kill(workload->pid, SIGCONT))
		return 0;
	err = -errno;
	pr_err("%s cannot be started: %s", workload->name, strerror(-err));
	return err;
}

static bool workload__reap(struct workload *workload, int flags)
{
	struct rusage usage = { 0 };
	pid_t pid;

	if (workload->ended)
		return true;
	do {
		pid = wait4(workload->pid, &workload->wait_status, flags, &usage);
	} while (pid < 0 && errno == EINTR);
	if (pid > 0)
		workload->peak_kb = (uint64_t)usage.ru_maxrss;
	workload->ended = pid != 0;
	return workload->ended;
}

bool workload__ended(struct workload *workload)
{
	return workload__reap(workload, WNOHANG);
}

bool workload__is_zombie(const struct workload *workload)
{
	siginfo_t info = { 0 };

	return !workload->ended && !waitid(P_PID, (id_t)workload->pid, &info,
					   WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

int workload__exec_error(const struct workload *workload)
{
	ssize_t size;
	int err;

	/* No waiting here: the other end has gone with the exec or with the process. */
	size = read(workload->exec_fd, &err, sizeof(err));
	if (size != sizeof(err))
		return 0;
	pr_err("Workload failed: %s: %s", workload->name, strerror(err));
	return -err;
}

void workload__terminate(struct workload *workload)
{
	if (!workload__ended(workload))
		kill(workload->pid, SIGTERM);
}

void workload__wait(struct workload *workload)
{
	workload__reap(workload, 0);
}

int workload__status(const struct workload *workload)
{
	if (WIFSIGNALED(workload->wait_status))
		return 128 + WTERMSIG(workload->wait_status);
	return WEXITSTATUS(workload->wait_status);
}

uint64_t workload__peak_kb(const struct workload *workload)
{
	return workload->peak_kb > workload->own_kb + OWN_MARGIN_KB ? workload->peak_kb : 0;
}

void workload__delete(struct workload *workload)
{
	if (!workload)
		return;
	if (workload->pid > 0 && !workload->released && !workload->ended) {
		kill(workload->pid, SIGKILL);
		workload__wait(workload);
	}
	if (workload->go_fd >= 0)
		close(workload->go_fd);
	if (workload->exec_fd >= 0)
		close(workload->exec_fd);
	free(workload);
}
