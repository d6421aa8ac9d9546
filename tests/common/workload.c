/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/workload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/built.h"
#include "common/tolerance.h"

static void exec_workload(const char *path, const char *const *argv, int in, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	execv(path, (char *const *)argv);
	perror(path);
	_exit(1);
}

int workload__start(struct workload *workload, const char *const *argv)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	char path[2 * PATH_MAX];
	int err;

	memset(workload, 0, sizeof(*workload));
	workload->in = workload->out = -1;
	err = built__path("workloads", argv[0], path, sizeof(path));
	if (err)
		return err;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
		err = -errno;
		goto out;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	workload->pid = fork();
	if (workload->pid < 0) {
		err = -errno;
		goto out;
	}
	if (!workload->pid)
		exec_workload(path, argv, in[0], out[1]);
	workload->in = in[1];
	workload->out = out[0];
	in[1] = out[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
	}
	return err;
}

static int workload__take_line(struct workload *workload, const char *line)
{
	struct truth truth, *grown;
	int kind = truth__parse_line(line, &truth);

	if (kind < 0) {
		fprintf(stderr, "# malformed, of the workload: %s\n", line);
		return kind;
	}
	if (!kind) {
		snprintf(workload->said, sizeof(workload->said), "%s", line);
		return 0;
	}
	grown = realloc(workload->truths, (workload->nr_truths + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[workload->nr_truths++] = truth;
	workload->truths = grown;
	return 0;
}

static int workload__take_lines(struct workload *workload)
{
	char *end;

	while (workload->text.len &&
	       (end = memchr(workload->text.data, '\n', workload->text.len))) {
		int err;

		*end = '\0';
		err = workload__take_line(workload, workload->text.data);
		if (err)
			return err;
		buffer__consume(&workload->text, (size_t)(end - workload->text.data) + 1);
	}
	return 0;
}

int workload__read(struct workload *workload)
{
	char chunk[4096];

	while (!workload->ended) {
		ssize_t len = read(workload->out, chunk, sizeof(chunk));
		int err;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!len)
			workload->ended = true;
		err = buffer__append(&workload->text, chunk, (size_t)len);
		if (!err)
			err = workload__take_lines(workload);
		if (err)
			return err;
	}
	return 1;
}

/* Reads until word was said (NULL: until the end). 0, -ETIMEDOUT, -EPIPE at the end. */
static int workload__read_until(struct workload *workload, const char *word)
{
	uint64_t limit = tolerance__deadline();

	for (;;) {
		struct pollfd fd = { .fd = workload->out, .events = POLLIN };
		int err = workload__read(workload);

		if (err < 0)
			return err;
		if (word && !strcmp(workload->said, word))
			return 0;
		if (err)
			return word ? -EPIPE : 0;
		if (clock__now_ns() >= limit)
			return -ETIMEDOUT;
		poll(&fd, 1, 100);
	}
}

int workload__await(struct workload *workload, const char *word)
{
	return workload__read_until(workload, word);
}

int workload__go(struct workload *workload)
{
	const struct timespec now = { 0 };
	sigset_t pipes, before;
	int err;

	/* If the workload has ended, the write fails and SIGPIPE must not end the test. */
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, &before);
	err = write(workload->in, "\n", 1) == 1 ? 0 : -errno;
	if (err == -EPIPE)
		sigtimedwait(&pipes, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int workload__finish(struct workload *workload)
{
	int status, err = workload__read_until(workload, NULL);

	if (err)
		return err;
	while (waitpid(workload->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	workload->reaped = true;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

int workload__run(struct workload *workload, const char *const *argv)
{
	int err;

	workload__free(workload);
	err = workload__start(workload, argv);
	if (!err)
		err = workload__await(workload, "READY");
	if (!err)
		err = workload__go(workload);
	return err ? err : workload__finish(workload);
}

const struct truth *workload__truth(const struct workload *workload, const char *comm)
{
	for (size_t i = 0; i < workload->nr_truths; i++) {
		if (!strcmp(workload->truths[i].comm, comm))
			return &workload->truths[i];
	}
	return NULL;
}

/* The name of a thread in /proc, without the newline. */
static void read_comm(pid_t pid, const char *tid, char *comm, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", pid, tid);
	comm[0] = '\0';
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(comm, (int)size, file))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
}

pid_t workload__thread(const struct workload *workload, const char *comm)
{
	struct dirent *entry;
	char path[64], name[32];
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", workload->pid);
	dir = opendir(path);
	while (dir && !tid && (entry = readdir(dir))) {
		read_comm(workload->pid, entry->d_name, name, sizeof(name));
		if (!strcmp(name, comm))
			tid = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	return tid;
}

void workload__free(struct workload *workload)
{
	if (workload->pid > 0 && !workload->reaped) {
		kill(workload->pid, SIGKILL);
		waitpid(workload->pid, NULL, 0);
	}
	if (workload->pid > 0) {
		close(workload->in);
		close(workload->out);
	}
	buffer__free(&workload->text);
	free(workload->truths);
	memset(workload, 0, sizeof(*workload));
}
