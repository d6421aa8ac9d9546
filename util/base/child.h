/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CHILD_H
#define DENET_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A function in a forked child: for work that may hang in the kernel, such as opening a file of a
 * dead file system, without blocking the parent. The child sends messages over a pipe; the parent
 * reads them until a deadline and can kill it at any time. The child dies with its parent, and
 * keeps none of the parent's descriptors but the standard ones, so that it never holds a ring or a
 * BPF map alive.
 */
struct child;
struct child_out;

/* Runs in the child. Its result, 0 or a negative errno, reaches child__receive(). */
typedef int (*child_fn)(void *ctx, struct child_out *out);

/*
 * Forks and runs fn. The caller must have one thread only, or fn must call nothing that
 * another thread may hold a lock of. NULL and a negative errno in *err on failure.
 */
struct child *child__new(child_fn fn, void *ctx, int *err);

/*
 * The same, but the child keeps one more descriptor, which has another number there: *keep
 * is set to it, in the child only.
 */
struct child *child__new_keeping(child_fn fn, void *ctx, int *keep, int *err);

/*
 * The same; if a process, a pipe or memory is refused (as by a task limit reached for a moment),
 * tries again until deadline_ns (clock__now_ns()). keep may be NULL.
 */
struct child *child__new_patiently(child_fn fn, void *ctx, int *keep, uint64_t deadline_ns,
				   int *err);

/*
 * In the child: queues a message of the caller's type (below CHILD_TYPE_OURS) and size bytes
 * (copied), and sends full queues. 0, -EMSGSIZE beyond CHILD_MESSAGE_MAX, -ENOMEM or the errno of
 * the write. The rest is sent when fn returns.
 */
#define CHILD_MESSAGE_MAX (1u << 20)
#define CHILD_TYPE_OURS 0xffffff00u
int child_out__put(struct child_out *out, uint32_t type, const void *data, size_t size);

/* In the child: sends the queue. 0 or a negative errno. */
int child_out__flush(struct child_out *out);

struct child_message {
	uint32_t type;
	size_t size;
	const void *data;
};

/*
 * Waits for the next message until deadline_ns (clock__now_ns()); messages that arrived in time are
 * still delivered after it. Returns 1 and the message, valid until the next call; 0 when fn has
 * returned 0; fn's negative errno; -ETIMEDOUT; -ECHILD if the child died before fn returned;
 * -EPROTO for malformed data.
 */
int child__receive(struct child *child, uint64_t deadline_ns, struct child_message *message);

/*
 * The same, for work that may hang. Waits for patience_ns, then in steps of it until latest_ns
 * while the child is runnable and has used less than patience_ns of CPU time since the call. So
 * -ETIMEDOUT before latest_ns means that the child is stuck.
 */
int child__receive_unless_stuck(struct child *child, uint64_t patience_ns, uint64_t latest_ns,
				struct child_message *message);

pid_t child__pid(const struct child *child);

/* Becomes readable when there is something to receive. Borrowed. */
int child__fd(const struct child *child);

/* CPU time of the child, in ns; 0 where that is not known. */
uint64_t child__cpu_ns(const struct child *child);

/* True if the child runs or waits for a CPU: it is not stuck. False if its state cannot be read. */
bool child__is_runnable(const struct child *child);

/*
 * The signal that ended a child for which child__receive() returned -ECHILD; 0: none, or not known.
 * Waits for a moment for a child that is about to exit.
 */
int child__signal(const struct child *child);

/*
 * Kills the child if it still runs, and reaps it. Never hangs: if even SIGKILL does not end the
 * child (uninterruptible sleep), init inherits it when we exit, and -EBUSY is returned. 0
 * otherwise. Accepts NULL.
 */
int child__delete(struct child *child);

#endif /* DENET_CHILD_H */
