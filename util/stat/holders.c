/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/holders.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/units.h"
#include "bpf/stat.h"
#include "mutex_owner.h"

#define PATIENCE_NS (50 * NSEC_PER_MSEC)
#define LATEST_NS (200 * NSEC_PER_MSEC)
/* The message type of an answer. */
#define ANSWER 1

struct answer {
	uint64_t incarnation;
	uint32_t holder;
	uint32_t reserved;
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

/* A mutex that would cross the end of a mapping may be the word of a bare futex. */
static uint32_t read_holder(const struct stat_wire_thread *thread)
{
	struct mutex_words words = { 0 };
	const struct iovec to = { &words, sizeof(words) };
	const struct iovec from = { (void *)(uintptr_t)thread->wait_id, sizeof(words) };
	uint8_t is_shared;

	if (process_vm_readv((pid_t)thread->pid, &to, 1, &from, 1, 0) < (ssize_t)sizeof(words.lock))
		return 0;
	return mutex_owner__of(&words, thread->futex_op, thread->futex_value, &is_shared);
}

/* In a child, since reading waits for a process that changes its mappings. */
static int ask(void *ctx, struct child_out *out)
{
	const struct buffer *sleepers = ctx;
	const struct stat_wire_thread *threads = (const void *)sleepers->data;
	int err = 0;

	for (size_t i = 0; i < sleepers->len / sizeof(*threads) && !err; i++) {
		struct answer answer = { .incarnation = threads[i].incarnation,
					 .holder = read_holder(&threads[i]) };

		if (answer.holder)
			err = child_out__put(out, ANSWER, &answer, sizeof(answer));
		if (!err && answer.holder)
			err = child_out__flush(out);
	}
	return err;
}

/* Until the child has answered all, hangs, or dies. */
static void take_answers(struct stat_programs *programs, struct child *child)
{
	uint64_t latest = clock__now_ns() + LATEST_NS;
	struct child_message message;
	struct answer answer;

	while (child__receive_unless_stuck(child, PATIENCE_NS, latest, &message) == 1) {
		if (message.type != ANSWER || message.size != sizeof(answer))
			return;
		memcpy(&answer, message.data, sizeof(answer));
		/* Without room for it, the holder stays unknown. */
		stat_programs__set_holder(programs, answer.incarnation, answer.holder);
	}
}

int holders__learn(struct stat_programs *programs)
{
	struct buffer sleepers = { 0 };
	int err = stat_programs__read_threads(programs, keep_sleepers, &sleepers), ignored;
	struct child *child = NULL;

	if (!err && sleepers.len)
		child = child__new(ask, &sleepers, &ignored);
	if (child)
		take_answers(programs, child);
	child__delete(child);
	buffer__free(&sleepers);
	return err;
}
