/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/user_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/options.h"
#include "host/user_address.h"

#define MAX_FRAMES CAPTURE_MAX_FRAMES
#define PIECE 4096
/* Frame pointers farther apart lead nowhere. */
#define MAX_FRAME_BYTES (1 << 20)
/* How long one process may block the reading, and all of them. */
#define STUCK_NS (250 * NSEC_PER_MSEC)
#define LATEST_NS (2 * NSEC_PER_SEC)
/* After so long it is asked again, or another process has its number. */
#define AGAIN_NS (30 * NSEC_PER_SEC)
/* Type of the message behind the stacks; those have the numbers of their requests. */
#define END_OF_STACKS USER_READER_MAX

/* Seen by both sides. */
struct shared {
	size_t nr;
	volatile pid_t reading; /* the process whose memory is being read */
	struct user_request requests[USER_READER_MAX];
};

struct user_reader {
	struct shared *shared;
	struct child *child; /* NULL: not started, or it hung */
	int bell;	     /* rung for each batch of requests; its end in the child */
	struct idmap stuck;  /* processes that did not let themselves be read, and when */
	bool warned;
};

struct user_reader *user_reader__new(void)
{
	struct user_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->bell = -1;
	reader->shared = mmap(NULL, sizeof(*reader->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reader->shared != MAP_FAILED)
		return reader;
	free(reader);
	return NULL;
}

static void stop(struct user_reader *reader)
{
	child__delete(reader->child);
	reader->child = NULL;
	if (reader->bell >= 0)
		close(reader->bell);
	reader->bell = -1;
}

void user_reader__delete(struct user_reader *reader)
{
	if (!reader)
		return;
	stop(reader);
	munmap(reader->shared, sizeof(*reader->shared));
	idmap__free(&reader->stuck);
	free(reader);
}

/* How often a thread has left its CPU; 0: it is gone. */
static uint64_t switches_of(const struct user_request *request)
{
	static const char *const fields[] = { "\nvoluntary_ctxt_switches:",
					      "\nnonvoluntary_ctxt_switches:" };
	uint64_t sum = 0;
	char path[64], text[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", request->pid, request->tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(text, fields[i]);

		if (at)
			sum += strtoull(at + strlen(fields[i]), NULL, 10);
	}
	return sum;
}

/* A piece of the stack of another process. */
struct piece {
	pid_t pid;
	uint64_t base;
	size_t len;
	char bytes[PIECE];
};

/* A frame pointer may be any number: code without frame pointers uses the register otherwise. */
static bool has_frame(const struct piece *piece, uint64_t fp)
{
	uint64_t at = fp - piece->base;

	return at <= piece->len && piece->len - at >= 2 * sizeof(uint64_t);
}

static bool read_frame(struct piece *piece, uint64_t fp, uint64_t frame[2])
{
	if (!has_frame(piece, fp)) {
		const struct iovec local = { piece->bytes, PIECE };
		const struct iovec remote = { (void *)(uintptr_t)fp, PIECE };
		ssize_t len = process_vm_readv(piece->pid, &local, 1, &remote, 1, 0);

		piece->base = fp;
		piece->len = len < 0 ? 0 : (size_t)len;
		if (piece->len < 2 * sizeof(uint64_t))
			return false;
	}
	memcpy(frame, piece->bytes + (fp - piece->base), 2 * sizeof(uint64_t));
	return true;
}

static uint32_t walk(const struct user_request *request, uint64_t mask, uint64_t *ips)
{
	struct piece piece = { .pid = request->pid };
	uint64_t fp = request->fp, frame[2];
	uint32_t nr = 1;

	ips[0] = request->pc;
	while (nr < MAX_FRAMES && fp && !(fp & 7) && read_frame(&piece, fp, frame) && frame[1]) {
		ips[nr++] = frame[1] & mask;
		if (frame[0] <= fp || frame[0] - fp > MAX_FRAME_BYTES)
			break;
		fp = frame[0];
	}
	return nr;
}

/* In the child. */
static int serve(struct shared *shared, struct child_out *out)
{
	uint64_t ips[MAX_FRAMES], mask = user_address__mask();
	int err = 0;

	for (size_t i = 0; i < shared->nr && !err; i++) {
		const struct user_request *request = &shared->requests[i];
		uint32_t nr;

		shared->reading = request->pid;
		nr = walk(request, mask, ips);
		shared->reading = 0;
		if (switches_of(request) == request->switches)
			err = child_out__put(out, (uint32_t)i, ips, nr * sizeof(*ips));
	}
	if (!err)
		err = child_out__put(out, END_OF_STACKS, NULL, 0);
	return err ? err : child_out__flush(out);
}

static int serve_all(void *ctx, struct child_out *out)
{
	struct user_reader *reader = ctx;
	uint64_t rings;
	int err = 0;

	while (!err && read(reader->bell, &rings, sizeof(rings)) == (ssize_t)sizeof(rings))
		err = serve(reader->shared, out);
	return err;
}

static int start(struct user_reader *reader)
{
	int err;

	if (reader->child)
		return 0;
	reader->bell = eventfd(0, EFD_CLOEXEC);
	if (reader->bell < 0)
		return -errno;
	reader->child = child__new_keeping(serve_all, reader, &reader->bell, &err);
	if (reader->child)
		return 0;
	stop(reader);
	return err;
}

/* Receives the stacks of one batch. 0, fn's error, or that of the child. */
static int receive(struct user_reader *reader, user_frames_fn fn, void *ctx)
{
	uint64_t latest = clock__now_ns() + LATEST_NS;
	struct child_message message;
	int err = 0, ret;

	for (;;) {
		ret = child__receive_unless_stuck(reader->child, STUCK_NS, latest, &message);
		if (ret != 1)
			return ret ? ret : -ECHILD;
		if (message.type == END_OF_STACKS)
			return err;
		if (!err && message.type < reader->shared->nr)
			err = fn(ctx, &reader->shared->requests[message.type], message.data,
				 (uint32_t)(message.size / sizeof(uint64_t)));
	}
}

static void skip_stuck(struct user_reader *reader)
{
	pid_t pid = reader->shared->reading;
	uint64_t *when;

	reader->shared->reading = 0;
	when = pid ? idmap__get(&reader->stuck, (uint64_t)pid) : NULL;
	if (!when)
		return;
	*when = clock__now_ns();
	if (reader->warned)
		return;
	reader->warned = true;
	pr_warn("process %d does not let its memory be read: threads of such ones have no user "
		"stacks",
		(int)pid);
}

static bool is_stuck(const struct user_reader *reader, pid_t pid)
{
	const uint64_t *when = idmap__find(&reader->stuck, (uint64_t)pid);

	return when && clock__now_ns() - *when < AGAIN_NS;
}

/* The next requests that may be asked for. Returns how many were gone through. */
static size_t take_requests(struct user_reader *reader, const struct user_request *requests,
			    size_t nr)
{
	struct shared *shared = reader->shared;
	size_t i;

	shared->nr = 0;
	for (i = 0; i < nr && shared->nr < USER_READER_MAX; i++) {
		if (!is_stuck(reader, requests[i].pid))
			shared->requests[shared->nr++] = requests[i];
	}
	return i;
}

int user_reader__read(struct user_reader *reader, const struct user_request *requests, size_t nr,
		      user_frames_fn fn, void *ctx)
{
	const uint64_t ring = 1;
	int err = 0;

	for (size_t at = 0; at < nr && !err;) {
		at += take_requests(reader, requests + at, nr - at);
		if (!reader->shared->nr)
			break;
		err = start(reader);
		if (!err && write(reader->bell, &ring, sizeof(ring)) != (ssize_t)sizeof(ring))
			err = -errno;
		if (!err)
			err = receive(reader, fn, ctx);
		if (err != -ETIMEDOUT && err != -ECHILD)
			continue;
		/* The rest of this batch goes without. */
		skip_stuck(reader);
		stop(reader);
		err = 0;
	}
	return err;
}
