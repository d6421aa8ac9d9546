/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/err_out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

enum err_out_kind {
	ERR_OUT_PLAIN = 0, /* a regular file or a device that does not block */
	ERR_OUT_OWN,	   /* a pipe or a terminal, opened anew without blocking */
	ERR_OUT_SOCKET,
	ERR_OUT_BYTES, /* could not be opened anew: poll(2) tells whether one byte has room */
};

/* The state of standard error, of which a process has one. */
static struct {
	enum err_out_kind kind;
	int fd;
	bool known; /* the fields above are those of dev and ino */
	dev_t dev;
	ino_t ino;
	size_t len; /* of queue */
	uint64_t dropped; /* lines, since the last one that was written */
	char queue[ERR_OUT_QUEUE];
} err_out;

/*
 * O_NONBLOCK belongs to the open file, which is shared with the shell and with COMMAND: a second
 * open file of the same pipe or terminal has flags of its own. A regular file is not opened anew,
 * since it would be written from its beginning.
 */
static void open_again(const struct stat *st)
{
	if (err_out.known && err_out.kind == ERR_OUT_OWN)
		close(err_out.fd);
	err_out.known = true;
	err_out.dev = st->st_dev;
	err_out.ino = st->st_ino;
	err_out.fd = STDERR_FILENO;
	err_out.kind = ERR_OUT_PLAIN;
	if (S_ISSOCK(st->st_mode)) {
		err_out.kind = ERR_OUT_SOCKET;
	} else if (S_ISFIFO(st->st_mode) || (S_ISCHR(st->st_mode) && isatty(STDERR_FILENO))) {
		err_out.fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		err_out.kind = err_out.fd < 0 ? ERR_OUT_BYTES : ERR_OUT_OWN;
		if (err_out.fd < 0)
			err_out.fd = STDERR_FILENO;
	}
}

static void settle(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st))
		return;
	if (!err_out.known || st.st_dev != err_out.dev || st.st_ino != err_out.ino)
		open_again(&st);
}

static bool has_room(int timeout_ms)
{
	struct pollfd pollfd = { .fd = err_out.fd, .events = POLLOUT };

	return poll(&pollfd, 1, timeout_ms) > 0;
}

/* write(2) with -1 and EAGAIN instead of blocking. */
static ssize_t write_some(const char *text, size_t size)
{
	switch (err_out.kind) {
	case ERR_OUT_SOCKET:
		return send(STDERR_FILENO, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	case ERR_OUT_BYTES:
		if (has_room(0))
			return write(err_out.fd, text, 1);
		errno = EAGAIN;
		return -1;
	default:
		return write(err_out.known ? err_out.fd : STDERR_FILENO, text, size);
	}
}

/* Number of bytes that are written, or can never be. */
static size_t try_write(const char *text, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write_some(text + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return size;
		done += (size_t)n;
	}
	return done;
}

static void enqueue(const char *text, size_t size)
{
	if (size > sizeof(err_out.queue) - err_out.len) {
		err_out.dropped++;
		return;
	}
	memcpy(err_out.queue + err_out.len, text, size);
	err_out.len += size;
}

static void tell_dropped(void)
{
	char line[128];
	int len = snprintf(line, sizeof(line),
			   "denet: %" PRIu64
			   " messages are left out: stderr took none for a while\n",
			   err_out.dropped);

	err_out.dropped = 0;
	enqueue(line, (size_t)len);
}

static size_t flush(void)
{
	size_t done = try_write(err_out.queue, err_out.len);

	err_out.len -= done;
	memmove(err_out.queue, err_out.queue + done, err_out.len);
	if (!err_out.len && err_out.dropped) {
		tell_dropped();
		err_out.len -= try_write(err_out.queue, err_out.len);
	}
	return err_out.len;
}

size_t err_out__flush(void)
{
	settle();
	return err_out.len ? flush() : 0;
}

void err_out__write(const char *text, size_t size)
{
	size_t done = err_out__flush() ? 0 : try_write(text, size);

	if (done < size)
		enqueue(text + done, size - done);
}

void err_out__transient(const char *text, size_t size)
{
	size_t done;

	if (err_out__flush())
		return;
	done = try_write(text, size);
	/* A part of an escape sequence would garble later text. */
	if (done && done < size)
		enqueue(text + done, size - done);
}

void err_out__finish(int timeout_ms)
{
	uint64_t deadline = clock__now_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC, now;

	while (err_out__flush() && (now = clock__now_ns()) < deadline)
		has_room((int)((deadline - now) / NSEC_PER_MSEC) + 1);
}

void err_out__in_handler(const char *text, size_t size)
{
	try_write(text, size);
}

void err_out__after_fork(void)
{
	err_out.len = 0;
	err_out.dropped = 0;
	/* The descriptor is about to be closed, with all others of the parent. */
	err_out.known = false;
	err_out.kind = ERR_OUT_PLAIN;
}
