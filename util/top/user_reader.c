/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/user_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "host/thread_switches.h"
#include "top/aio_reader.h"
#include "top/owner_reader.h"
#include "top/stack_walker.h"

#define TEXT_LEN USER_READER_TEXT
/*
 * How long one process may block the reading, and all of them. It may take twice the first until it
 * is found out: requests before it are progress.
 */
#define STUCK_NS (250 * NSEC_PER_MSEC)
#define LATEST_NS (2 * NSEC_PER_SEC)
/*
 * After so long it is asked again: it may go on, or another process has its number. Each time that
 * it hangs, all that the child has learnt is lost, so that the time doubles.
 */
#define AGAIN_NS (30 * NSEC_PER_SEC)
#define AGAIN_DOUBLINGS 4
/* How long stacks of a look may wait for what is learnt of their programs, and for a step of it. */
#define LEARN_NS NSEC_PER_SEC
#define LEARN_STEP_NS (50 * NSEC_PER_MSEC)

/* Types of messages beside the answers, which have the numbers of their requests. */
enum {
	END_OF_ANSWERS = USER_READER_MAX,
	STILL_LEARNING,
};

union answer {
	struct user_stack stack;
	char text[TEXT_LEN];
	struct aio_answer aio;
	uint32_t owner;
};

/* Seen by both sides. */
struct shared {
	size_t nr;
	volatile pid_t reading; /* the process whose memory is being read */
	volatile bool learning;	      /* the child is not stuck, though it may take its time */
	volatile uint32_t nr_read;    /* requests gone through: the child makes progress */
	volatile uint64_t helpers_ns; /* CPU time of those of the child's own children that ended */
	uint64_t learn_until;	      /* ns, CLOCK_MONOTONIC */
	struct user_request requests[USER_READER_MAX];
};

struct user_reader {
	struct shared *shared;
	struct child *child; /* NULL: not started, or it hung */
	int bell;	     /* rung for each batch of requests; its end in the child */
	struct idmap stuck;  /* processes that did not let themselves be read, and when, */
	struct idmap hangs;  /* and how often they did not, one time after the other */
	struct user_reader_options options;
	bool warned;
};

struct user_reader *user_reader__new(const struct user_reader_options *options)
{
	struct user_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->bell = -1;
	reader->options = *options;
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
	reader->shared->helpers_ns = 0;
	reader->shared->learning = false;
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
	idmap__free(&reader->hangs);
	free(reader);
}

uint64_t user_reader__cpu_ns(const struct user_reader *reader)
{
	return reader->child ? child__cpu_ns(reader->child) + reader->shared->helpers_ns : 0;
}

static size_t read_cmdline(const struct user_request *request, char text[TEXT_LEN])
{
	char path[64];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", request->pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(text, 1, TEXT_LEN, file);
	fclose(file);
	while (len && (!text[len - 1] || text[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len; i++) {
		if (!text[i])
			text[i] = ' ';
	}
	return len;
}

/* What the child has. */
struct serving {
	struct stack_walker *walker;
	struct owner_reader owners;
	bool done[USER_READER_MAX]; /* requests of this batch */
	union answer answer;
};

static size_t stack_size(uint32_t nr)
{
	return offsetof(struct user_stack, ips) + nr * sizeof(uint64_t);
}

/* Returns false if something is to be learnt first; not with last. *size: bytes of the answer. */
static bool answer(struct serving *serving, const struct user_request *request, bool last,
		   size_t *size)
{
	union answer *to = &serving->answer;
	uint32_t nr;

	switch (request->kind) {
	case USER_REQUEST_LOCK_OWNER:
		to->owner = owner_reader__read(&serving->owners, request);
		*size = sizeof(to->owner);
		return true;
	case USER_REQUEST_CMDLINE:
		*size = read_cmdline(request, to->text);
		return true;
	case USER_REQUEST_AIO_SUBMIT:
	case USER_REQUEST_AIO_WAIT:
		*size = aio_reader__read(request, &to->aio);
		return true;
	default:
		nr = stack_walker__walk(serving->walker, request, last, &to->stack);
		*size = stack_size(nr);
		return nr;
	}
}

/* What was read belongs to the wait that was seen. */
static bool is_valid(const struct user_request *request)
{
	return request->kind == USER_REQUEST_CMDLINE || request->kind == USER_REQUEST_LOCK_OWNER ||
	       thread_switches__read(request->pid, request->tid) == request->switches;
}

/* Answers the requests that can be answered by now. again: not at first. *left: others are left. */
static int serve_round(struct serving *serving, struct shared *shared, bool again, bool last,
		       struct child_out *out, bool *left)
{
	int err = 0;

	*left = false;
	for (size_t i = 0; i < shared->nr && !err; i++) {
		const struct user_request *request = &shared->requests[i];
		size_t size;

		if (serving->done[i])
			continue;
		/* It may have run, or ended, while something was learnt. */
		serving->done[i] = again && !is_valid(request);
		if (serving->done[i])
			continue;
		shared->reading = request->pid;
		serving->done[i] = answer(serving, request, last, &size);
		shared->reading = 0;
		shared->nr_read++;
		if (!serving->done[i])
			*left = true;
		else if (is_valid(request))
			err = child_out__put(out, (uint32_t)i, &serving->answer, size);
	}
	return err;
}

/* Learns a bit, and says so: the parent waits for an answer. False: there is nothing more. */
static bool learn(struct serving *serving, struct shared *shared, struct child_out *out, int *err)
{
	uint64_t now = clock__now_ns(), until = min_u64(shared->learn_until, now + LEARN_STEP_NS);
	bool learnt;

	if (now >= until)
		return false;
	shared->learning = true;
	learnt = stack_walker__learn(serving->walker, until);
	shared->learning = false;
	shared->helpers_ns = cpu_time__of(RUSAGE_CHILDREN);
	if (!learnt)
		return false;
	*err = child_out__put(out, STILL_LEARNING, NULL, 0);
	if (!*err)
		*err = child_out__flush(out);
	return !*err;
}

/* In the child. */
static int serve(struct serving *serving, struct shared *shared, struct child_out *out)
{
	bool left;
	int err;

	owner_reader__begin(&serving->owners);
	memset(serving->done, 0, sizeof(serving->done));
	err = serve_round(serving, shared, false, false, out, &left);
	while (!err && left && learn(serving, shared, out, &err))
		err = serve_round(serving, shared, true, false, out, &left);
	if (!err && left)
		err = serve_round(serving, shared, true, true, out, &left);
	if (!err)
		err = child_out__put(out, END_OF_ANSWERS, NULL, 0);
	if (!err)
		err = child_out__flush(out);
	if (err)
		return err;
	/* The parent goes on meanwhile; the next requests may have to wait. */
	shared->learning = true;
	stack_walker__refresh(serving->walker);
	shared->learning = false;
	shared->helpers_ns = cpu_time__of(RUSAGE_CHILDREN);
	return 0;
}

static int serve_all(void *ctx, struct child_out *out)
{
	struct user_reader *reader = ctx;
	struct serving serving = { .walker = stack_walker__new(reader->options.tables) };
	uint64_t rings;
	int err = serving.walker ? 0 : -ENOMEM;

	/* There may be a screen where its warnings would go. */
	log__init(log__program(), LOG_ERROR);
	while (!err && read(reader->bell, &rings, sizeof(rings)) == (ssize_t)sizeof(rings))
		err = serve(&serving, reader->shared, out);
	owner_reader__free(&serving.owners);
	stack_walker__delete(serving.walker);
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

/*
 * Whether the child has gone on since it was at *nr_read. It sends its answers many at a time: that
 * none has come does not show that it is stuck.
 */
static bool makes_progress(const struct user_reader *reader, uint32_t *nr_read)
{
	uint32_t before = *nr_read;

	*nr_read = reader->shared->nr_read;
	return *nr_read != before || reader->shared->learning;
}

/* Receives the answers of one batch. 0, fn's error, or that of the child. */
static int receive(struct user_reader *reader, user_answer_fn fn, void *ctx)
{
	uint64_t latest = clock__now_ns() + LATEST_NS;
	uint32_t nr_read = reader->shared->nr_read;
	struct child_message message;
	int err = 0, ret;

	for (;;) {
		ret = child__receive_unless_stuck(reader->child, STUCK_NS, latest, &message);
		if (ret == -ETIMEDOUT && makes_progress(reader, &nr_read) &&
		    clock__now_ns() < latest)
			continue;
		if (ret != 1)
			return ret ? ret : -ECHILD;
		if (message.type == END_OF_ANSWERS)
			return err;
		if (message.type < reader->shared->nr)
			idmap__remove(&reader->hangs,
				      (uint64_t)reader->shared->requests[message.type].pid);
		if (!err && message.type < reader->shared->nr)
			err = fn(ctx, &reader->shared->requests[message.type], message.data,
				 message.size);
	}
}

/* Leaves the process out that was being read, for the longer, the more often it hangs. */
static void skip_stuck(struct user_reader *reader, bool hung)
{
	pid_t pid = reader->shared->reading;
	uint64_t *when, *hangs;

	reader->shared->reading = 0;
	when = pid ? idmap__get(&reader->stuck, (uint32_t)pid) : NULL;
	hangs = pid ? idmap__get(&reader->hangs, (uint32_t)pid) : NULL;
	if (!when || !hangs)
		return;
	*when = clock__now_ns();
	*hangs += hung;
	if (reader->warned)
		return;
	reader->warned = true;
	pr_warn("process %d does not let its memory be read: threads of such ones have no %s",
		(int)pid, reader->options.what);
}

static bool is_stuck(const struct user_reader *reader, pid_t pid)
{
	const uint64_t *when = idmap__find(&reader->stuck, (uint32_t)pid);
	const uint64_t *hangs = idmap__find(&reader->hangs, (uint32_t)pid);
	uint64_t doublings = hangs && *hangs ? min_u64(*hangs - 1, AGAIN_DOUBLINGS) : 0;

	return when && clock__now_ns() - *when < AGAIN_NS << doublings;
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
		      user_answer_fn fn, void *ctx)
{
	const uint64_t ring = 1;
	int err = 0;

	reader->shared->learn_until = clock__now_ns() + LEARN_NS;
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
		skip_stuck(reader, err == -ETIMEDOUT);
		stop(reader);
		err = 0;
	}
	return err;
}
