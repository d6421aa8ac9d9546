/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/err_out.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"

#define OUT_CHUNK (32u << 10)
#define IN_CHUNK (64u << 10)
/* How long a killed child may take to vanish before it counts as unkillable. */
#define REAP_MS 200
/* How long a child whose pipe is closed may take to be gone. */
#define SIGNAL_MS 100

/* Interval between attempts to make a process. */
#define RETRY_MS 10

/* The type of the last message, whose payload is fn's result. */
#define TYPE_RESULT UINT32_MAX

/* In front of each message. */
struct frame_header {
	uint32_t size;
	uint32_t type;
};

struct child {
	pid_t pid;
	int fd;
	struct buffer in;
	size_t used; /* bytes of in that messages have taken */
};

struct child_out {
	int fd;
	struct buffer queue;
};

int child_out__flush(struct child_out *out)
{
	int err = fd__write_all(out->fd, out->queue.data, out->queue.len);

	out->queue.len = 0;
	return err;
}

int child_out__put(struct child_out *out, uint32_t type, const void *data, size_t size)
{
	struct frame_header header = { .size = (uint32_t)size, .type = type };
	char *room;

	if (size > CHILD_MESSAGE_MAX)
		return -EMSGSIZE;
	room = buffer__reserve(&out->queue, sizeof(header) + size);
	if (!room)
		return -ENOMEM;
	memcpy(room, &header, sizeof(header));
	if (size)
		memcpy(room + sizeof(header), data, size);
	out->queue.len += sizeof(header) + size;
	return out->queue.len >= OUT_CHUNK ? child_out__flush(out) : 0;
}

/*
 * Ctrl-C reaches the whole process group, and the first one means "finish the file": the child has
 * to live on for that. When the parent dies, the child is killed.
 */
static void settle_signals(void)
{
	sigset_t none;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Keeps the standard descriptors, the pipe, which becomes the first after them, and *keep, which
 * becomes the next; closes all others.
 */
static int settle_descriptors(int fd, int *keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), high = -1;

	/* A child that cannot be killed must not keep the reader of our output waiting. */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (keep)
		high = fcntl(*keep, F_DUPFD, STDERR_FILENO + 3);
	if (fd != STDERR_FILENO + 1)
		fd = dup2(fd, STDERR_FILENO + 1);
	if (keep)
		*keep = dup2(high, STDERR_FILENO + 2);
	closefrom(keep ? STDERR_FILENO + 3 : STDERR_FILENO + 2);
	return fd;
}

static void __attribute__((noreturn)) run(child_fn fn, void *ctx, int fd, int *keep, pid_t parent)
{
	struct child_out out = { 0 };
	int result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the line above took effect. */
	if (getppid() != parent)
		_exit(1);
	settle_signals();
	err_out__after_fork();
	/* The parent's sink keeps lines in memory, which would be lost with this process. */
	log__set_sink(NULL, NULL);
	out.fd = settle_descriptors(fd, keep);
	result = fn(ctx, &out);
	if (child_out__put(&out, TYPE_RESULT, &result, sizeof(result)) || child_out__flush(&out))
		_exit(1);
	_exit(0);
}

struct child *child__new_keeping(child_fn fn, void *ctx, int *keep, int *err)
{
	struct child *child = calloc(1, sizeof(*child));
	pid_t parent = getpid();
	int fds[2];

	if (!child) {
		*err = -ENOMEM;
		return NULL;
	}
	if (pipe2(fds, O_CLOEXEC)) {
		*err = -errno;
		free(child);
		return NULL;
	}
	child->pid = fork();
	if (child->pid == 0)
		run(fn, ctx, fds[1], keep, parent);
	*err = child->pid < 0 ? -errno : 0;
	close(fds[1]);
	if (*err) {
		close(fds[0]);
		free(child);
		return NULL;
	}
	child->fd = fds[0];
	return child;
}

struct child *child__new(child_fn fn, void *ctx, int *err)
{
	return child__new_keeping(fn, ctx, NULL, err);
}

static bool may_pass(int err)
{
	return err == -EAGAIN || err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

struct child *child__new_patiently(child_fn fn, void *ctx, int *keep, uint64_t deadline_ns,
				   int *err)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * NSEC_PER_MSEC };
	struct child *child;

	while (!(child = child__new_keeping(fn, ctx, keep, err)) && may_pass(*err) &&
	       clock__now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	return child;
}

/* 1 and the next buffered message, child__receive()'s result, or -EAGAIN. */
static int next_message(struct child *child, struct child_message *message)
{
	const char *p = child->in.data + child->used;
	size_t left = child->in.len - child->used;
	struct frame_header header;
	int result;

	if (left < sizeof(header))
		return -EAGAIN;
	memcpy(&header, p, sizeof(header));
	if (header.size > CHILD_MESSAGE_MAX ||
	    (header.type == TYPE_RESULT && header.size != sizeof(result)))
		return -EPROTO;
	if (left < sizeof(header) + header.size)
		return -EAGAIN;
	if (header.type == TYPE_RESULT) {
		memcpy(&result, p + sizeof(header), sizeof(result));
		return result > 0 ? -EPROTO : result;
	}
	message->type = header.type;
	message->data = p + sizeof(header);
	message->size = header.size;
	child->used += sizeof(header) + header.size;
	return 1;
}

/* 0: the pipe is readable or at its end. -ETIMEDOUT, -errno. */
static int wait_readable(int fd, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		uint64_t now = clock__now_ns();
		uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
		struct timespec timeout = { .tv_sec = (time_t)(left / NSEC_PER_SEC),
					    .tv_nsec = (long)(left % NSEC_PER_SEC) };
		int n = ppoll(&poll_fd, 1, &timeout, NULL);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
	}
}

static int read_some(struct child *child)
{
	void *room;
	ssize_t n;

	buffer__consume(&child->in, child->used);
	child->used = 0;
	room = buffer__reserve(&child->in, IN_CHUNK);
	if (!room)
		return -ENOMEM;
	n = read(child->fd, room, IN_CHUNK);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECHILD;
	child->in.len += (size_t)n;
	return 0;
}

int child__receive(struct child *child, uint64_t deadline_ns, struct child_message *message)
{
	for (;;) {
		int ret = next_message(child, message);

		if (ret != -EAGAIN)
			return ret;
		ret = wait_readable(child->fd, deadline_ns);
		if (!ret)
			ret = read_some(child);
		if (ret)
			return ret;
	}
}

int child__receive_unless_stuck(struct child *child, uint64_t patience_ns, uint64_t latest_ns,
				struct child_message *message)
{
	uint64_t cpu = child__cpu_ns(child), now;
	int ret;

	do {
		now = clock__now_ns();
		ret = child__receive(child, min_u64(now + patience_ns, latest_ns), message);
	} while (ret == -ETIMEDOUT && clock__now_ns() < latest_ns && child__is_runnable(child) &&
		 child__cpu_ns(child) - cpu < patience_ns);
	return ret;
}

pid_t child__pid(const struct child *child)
{
	return child->pid;
}

int child__fd(const struct child *child)
{
	return child->fd;
}

uint64_t child__cpu_ns(const struct child *child)
{
	struct timespec cpu;
	clockid_t clock;

	if (clock_getcpuclockid(child->pid, &clock) || clock_gettime(clock, &cpu))
		return 0;
	return (uint64_t)cpu.tv_sec * NSEC_PER_SEC + (uint64_t)cpu.tv_nsec;
}

bool child__is_runnable(const struct child *child)
{
	char path[32], text[128];
	const char *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", child->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	/* The name may hold anything, so the state is what follows the last parenthesis. */
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

int child__signal(const struct child *child)
{
	uint64_t deadline = clock__now_ns() + SIGNAL_MS * NSEC_PER_MSEC;
	siginfo_t info = { 0 };

	/* The child closes its pipe before it can be waited for. WNOWAIT does not reap it. */
	while (!waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT)) {
		struct timespec pause = { .tv_nsec = 200000 };

		if (info.si_pid == child->pid)
			return info.si_code == CLD_EXITED ? 0 : info.si_status;
		if (clock__now_ns() > deadline)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* ECHILD, as where SIGCHLD is ignored, means that the child is gone as well. */
static bool is_reaped(pid_t pid)
{
	pid_t ret;

	do {
		ret = waitpid(pid, NULL, WNOHANG);
	} while (ret < 0 && errno == EINTR);
	return ret != 0;
}

static int reap(pid_t pid)
{
	uint64_t deadline = clock__now_ns() + REAP_MS * NSEC_PER_MSEC;

	/* The child is not reaped yet, so the pid cannot be another process's. */
	kill(pid, SIGKILL);
	while (!is_reaped(pid)) {
		struct timespec pause = { .tv_nsec = 200000 };

		if (clock__now_ns() > deadline)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int child__delete(struct child *child)
{
	int err;

	if (!child)
		return 0;
	close(child->fd);
	err = reap(child->pid);
	buffer__free(&child->in);
	free(child);
	return err;
}
