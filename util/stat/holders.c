/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/holders.h"

#include <string.h>

#include "base/buffer.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/units.h"
#include "bpf/stat.h"
#include "host/lock_owner.h"

#define PATIENCE_NS (50 * NSEC_PER_MSEC)
#define LATEST_NS (200 * NSEC_PER_MSEC)
/* The message type of an answer. */
#define ANSWER 1

struct answer {
	uint32_t index; /* of the thread that waits */
	uint32_t holder; /* 0: unknown */
};

/* Keeps threads that have slept for a futex since before the measurement. */
static int keep_sleepers(void *ctx, const void *data, size_t size)
{
	struct stat_wire_thread thread;
	int err = 0;

	for (size_t at = 0; at + sizeof(thread) <= size && !err; at += sizeof(thread)) {
		memcpy(&thread, (const char *)data + at, sizeof(thread));
		if (thread.flags & STAT_WIRE_ASLEEP)
			err = buffer__append(ctx, &thread, sizeof(thread));
	}
	return err;
}

static uint32_t read_holder(const struct stat_wire_thread *thread)
{
	const struct mutex_wait wait = { thread->futex_op, thread->futex_value };
	bool is_shared;

	return lock_owner__read((pid_t)thread->pid, thread->wait_id, wait, &is_shared);
}

/* In a child, since reading waits for a process that changes its mappings. */
static int answer_all(void *ctx, struct child_out *out)
{
	const struct buffer *waits = ctx;
	const struct stat_wire_thread *threads = (const void *)waits->data;
	int err = 0;

	for (uint32_t i = 0; i < waits->len / sizeof(*threads) && !err; i++) {
		struct answer answer = { .index = i, .holder = read_holder(&threads[i]) };

		err = child_out__put(out, ANSWER, &answer, sizeof(answer));
		if (!err)
			err = child_out__flush(out);
	}
	return err;
}

/* Sets the owners of the waits, until the child has answered all, hangs, or dies. */
static void ask(struct buffer *waits)
{
	struct stat_wire_thread *threads = (void *)waits->data;
	uint64_t latest = clock__now_ns() + LATEST_NS;
	struct child_message message;
	struct answer answer;
	struct child *child;
	int err;

	if (!waits->len)
		return;
	child = child__new(answer_all, waits, &err);
	while (child &&
	       child__receive_unless_stuck(child, PATIENCE_NS, latest, &message) == 1) {
		if (message.type != ANSWER || message.size != sizeof(answer))
			break;
		memcpy(&answer, message.data, sizeof(answer));
		if (answer.index < waits->len / sizeof(*threads))
			threads[answer.index].owner = answer.holder;
	}
	child__delete(child);
}

int holders__learn(struct stat_programs *programs)
{
	struct buffer sleepers = { 0 };
	const struct stat_wire_thread *threads;
	int err = stat_programs__read_threads(programs, keep_sleepers, &sleepers);

	if (!err)
		ask(&sleepers);
	threads = (const void *)sleepers.data;
	for (size_t i = 0; i < sleepers.len / sizeof(*threads) && !err; i++) {
		/* Without room for it, the holder stays unknown. */
		if (threads[i].owner)
			stat_programs__set_holder(programs, threads[i].incarnation,
						  threads[i].owner);
	}
	buffer__free(&sleepers);
	return err;
}

static bool is_doubtful(const struct stat_wire_thread *thread)
{
	return thread->owner && thread->wait_ns >= HOLDERS_CHECK_FROM_NS;
}

int holders__check(struct buffer *waits)
{
	struct stat_wire_thread *threads = (void *)waits->data;
	const struct stat_wire_thread *checked;
	struct buffer doubtful = { 0 };
	size_t nr = waits->len / sizeof(*threads);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_doubtful(&threads[i]))
			err = buffer__append(&doubtful, &threads[i], sizeof(threads[i]));
	}
	if (!err)
		ask(&doubtful);
	checked = (const void *)doubtful.data;
	for (size_t i = 0; i < nr && !err; i++) {
		if (is_doubtful(&threads[i]))
			threads[i].owner = checked++->owner;
	}
	buffer__free(&doubtful);
	return err;
}
