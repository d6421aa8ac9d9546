/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* In the child: connects the standard descriptors and becomes the command. */
static void become(const char *command, const char *log, int in, int out)
{
	int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	char *line;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * Background shells start commands with SIGINT ignored, but it is the signal that ends a
	 * tool.
	 */
	signal(SIGINT, SIG_DFL);
	if (in < 0)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (file < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out < 0 ? file : out, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0 ||
	    asprintf(&line, "exec %s", command) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(126);
}

int process__start(struct process *process, const char *command, const char *log,
		   unsigned int flags)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err = 0;

	*process = (struct process){ .in = -1, .out = -1 };
	if (flags & PROCESS_GATED && (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0))
		return -errno;
	process->started = clock__now_ns();
	process->pid = fork();
	if (process->pid < 0)
		err = -errno;
	else if (!process->pid)
		become(command, log, in[0], out[1]);
	if (flags & PROCESS_GATED) {
		close(in[0]);
		close(out[1]);
	}
	process->in = in[1];
	process->out = out[0];
	return err;
}

int process__await_word(struct process *process, const char *word)
{
	char c;

	for (; *word; word++) {
		if (read(process->out, &c, 1) != 1)
			return -EPIPE;
		if (c != *word)
			return -EPROTO;
	}
	return read(process->out, &c, 1) == 1 && c == '\n' ? 0 : -EPROTO;
}

int process__release(struct process *process)
{
	return write(process->in, "\n", 1) == 1 ? 0 : -errno;
}

/* Drains the rest of the output, so that the process never blocks on a full pipe. */
static void read_to_the_end(int fd)
{
	char text[4096];

	while (read(fd, text, sizeof(text)) > 0)
		;
}

int process__wait(struct process *process)
{
	pid_t pid;

	if (process->in >= 0)
		close(process->in);
	if (process->out >= 0) {
		read_to_the_end(process->out);
		close(process->out);
	}
	do
		pid = wait4(process->pid, &process->status, 0, &process->usage);
	while (pid < 0 && errno == EINTR);
	process->ended = clock__now_ns();
	process->pid = 0;
	process->in = process->out = -1;
	return pid < 0 ? -errno : 0;
}

void process__kill(struct process *process)
{
	if (process->pid <= 0)
		return;
	kill(process->pid, SIGKILL);
	process__wait(process);
}

static uint64_t cpu_ns_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t process__cpu_ns(const struct process *process)
{
	return cpu_ns_of(process->pid);
}

uint64_t process__helpers_cpu_ns(const struct process *process)
{
	uint64_t ns = 0;
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", process->pid, process->pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fscanf(file, "%d", &pid) == 1)
		ns += cpu_ns_of(pid);
	fclose(file);
	return ns;
}

uint64_t process__sleeps(const struct process *process)
{
	unsigned long long nr = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", process->pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &nr) == 1)
			break;
	}
	fclose(file);
	return nr;
}
