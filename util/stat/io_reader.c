/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/io_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/units.h"

/* Questions on their way at once: few enough for a socket that nobody reads. */
#define BATCH 1024

/* The message type of an answer. */
#define ANSWER 1

struct io_reader {
	struct child *child;
	int to_child;    /* PIDs go in here */
	int from_parent; /* the child's end, as it is numbered there */
};

struct answer {
	int status;
	struct proc_text_io io;
};

struct io_reader *io_reader__new(void)
{
	struct io_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->to_child = reader->from_parent = -1;
	return reader;
}

static struct answer read_one(pid_t pid)
{
	struct answer answer = { 0 };
	char path[32], text[512];

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	answer.status = proc_text__read(path, text, sizeof(text));
	if (answer.status >= 0)
		answer.status = proc_text__io(text, &answer.io);
	return answer;
}

/* In the child, until the parent closes its end. */
static int serve(void *ctx, struct child_out *out)
{
	struct io_reader *reader = ctx;
	pid_t pid;
	int err = 0;

	while (!err && recv(reader->from_parent, &pid, sizeof(pid), MSG_WAITALL) == sizeof(pid)) {
		struct answer answer = read_one(pid);

		err = child_out__put(out, ANSWER, &answer, sizeof(answer));
		if (!err)
			err = child_out__flush(out);
	}
	return err;
}

static void stop(struct io_reader *reader)
{
	if (reader->to_child >= 0)
		close(reader->to_child);
	reader->to_child = -1;
	child__delete(reader->child);
	reader->child = NULL;
}

static int start(struct io_reader *reader, uint64_t latest)
{
	int ends[2], err = 0;

	if (reader->child)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	reader->from_parent = ends[0];
	reader->to_child = ends[1];
	reader->child = child__new_patiently(serve, reader, &reader->from_parent, latest, &err);
	close(ends[0]);
	if (!reader->child) {
		stop(reader);
		return err;
	}
	return 0;
}

/* One answer; a child that hangs or has died is given up. */
static int receive(struct io_reader *reader, uint64_t patience_ns, uint64_t latest,
		   struct answer *answer)
{
	struct child_message message;
	int err = child__receive_unless_stuck(reader->child, patience_ns, latest, &message);

	if (err == 1 && (message.type != ANSWER || message.size != sizeof(*answer)))
		err = -EPROTO;
	if (err != 1) {
		stop(reader);
		return err ? err : -ECHILD;
	}
	memcpy(answer, message.data, sizeof(*answer));
	return 0;
}

/* How many of the questions were answered or failed. */
static size_t read_batch(struct io_reader *reader, const pid_t *pids, size_t nr,
			 uint64_t patience_ns, uint64_t latest, struct proc_text_io *io,
			 int *status)
{
	struct answer answer;
	int err = start(reader, latest);
	size_t i;

	if (!err && send(reader->to_child, pids, nr * sizeof(*pids), MSG_NOSIGNAL) < 0) {
		err = -errno;
		stop(reader);
	}
	for (i = 0; i < nr && !err; i++) {
		err = receive(reader, patience_ns, latest, &answer);
		status[i] = err ? err : answer.status;
		if (!err)
			io[i] = answer.io;
	}
	/* The one that hung has its status; a child that could not be had is the failure of one. */
	if (err && !i)
		status[i++] = err;
	return i;
}

void io_reader__read(struct io_reader *reader, const pid_t *pids, size_t nr, int patience_ms,
		     struct proc_text_io *io, int *status)
{
	uint64_t patience_ns = (uint64_t)patience_ms * NSEC_PER_MSEC;
	uint64_t latest = clock__now_ns() + 4 * patience_ns;
	size_t i = 0;

	while (i < nr && clock__now_ns() < latest)
		i += read_batch(reader, pids + i, min_u64(nr - i, BATCH), patience_ns, latest,
				io + i, status + i);
	for (; i < nr; i++)
		status[i] = -ECANCELED;
}

void io_reader__delete(struct io_reader *reader)
{
	if (!reader)
		return;
	stop(reader);
	free(reader);
}
