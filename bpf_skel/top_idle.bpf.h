/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which threads are idle: off the CPU, and by a rule waiting for work and not in it. The rules are
 * in the man page of denet-top.
 */
#ifndef DENET_TOP_IDLE_BPF_H
#define DENET_TOP_IDLE_BPF_H

#include "mutex_owner.h"
#include "top_object.bpf.h"
#include "top_poll.bpf.h"
#include "top_uring.bpf.h"

#define TCP_STATE_LISTEN 10

#define MODE_REGULAR 0100000U
#define MODE_DIRECTORY 0040000U
#define MODE_BLOCK 0060000U

/*
 * C libraries wait for a lock while its word is 2 (locked, with waiters), for other things while it
 * has other values; and for condition variables with the clock of the day.
 */
static __always_inline bool is_lock_wait(__u32 class, const __u64 args[6])
{
	struct mutex_wait wait =
		mutex_owner__wait(class == WIRE_CALL_FUTEX_WAIT, args[1], args[2], args[3]);
	enum mutex_call call = mutex_owner__call(wait.op);

	if (call == MUTEX_CALL_WAIT)
		return !(wait.op & MUTEX_OWNER_CLOCK) &&
		       (wait.value == 2 || wait.value & MUTEX_OWNER_WAITERS);
	return call == MUTEX_CALL_PI;
}

/* A server's end of a connection waits for the next request, a client's for the answer. */
static __always_inline bool is_client(const struct wire_reason *reason,
				      const struct top_wire_socket *socket,
				      const struct top_wire_settings *top)
{
	if (reason->family == FAMILY_UNIX)
		return (socket->peer_ino || socket->peer_pid) && !socket->bound;
	if (reason->family != FAMILY_INET && reason->family != FAMILY_INET6)
		return false;
	return !(reason->protocol == PROTOCOL_TCP && socket->state == TCP_STATE_LISTEN) &&
	       reason->local_port >= top->client_ports;
}

static __always_inline bool is_disk_file(const struct wire_reason *reason)
{
	__u32 type = reason->mode & MODE_TYPE;

	return type == MODE_REGULAR || type == MODE_DIRECTORY || type == MODE_BLOCK;
}

/* Pipes, terminals and the like are waited for when there is no work. */
static __always_inline bool is_idle_object(const struct wire_reason *reason,
					   const struct top_wire_socket *socket,
					   const struct top_wire_settings *top)
{
	if (reason->object == WIRE_OBJECT_SOCKET)
		return !is_client(reason, socket, top);
	return reason->object == WIRE_OBJECT_FILE && !is_disk_file(reason);
}

/* A ring may wait for all kinds of things: the latest request tells. */
static __always_inline bool is_idle_ring(const struct top_wire_sample *sample,
					 const struct top_wire_uring *uring,
					 const struct wire_reason *request)
{
	if (sample->flags & TOP_WIRE_FLAG_URING_FILE)
		return !is_disk_file(request);
	return !uring->registered || !is_file_request(uring);
}

/* The class of the call that a thread is in. Calls of 32-bit programs have other numbers. */
static __always_inline __u32 class_of_sample(const struct top_wire_sample *sample)
{
	return sample->flags & TOP_WIRE_FLAG_COMPAT ? WIRE_CALL_OTHER : class_of(sample->nr);
}

/* By a rule of this kind: WIRE_CALL_IDLE is of any, WIRE_CALL_IDLE_GIVEN of the user's alone. */
static __always_inline bool is_idle_call(const struct top_wire_sample *sample, __u8 kind)
{
	return !(sample->flags & TOP_WIRE_FLAG_COMPAT) && sample->nr >= 0 &&
	       calls[sample->nr & (WIRE_MAX_CALLS - 1)] & kind;
}

/* Threads that are stopped, parked or dead do nothing, either. */
static __always_inline bool is_idle_state(__u32 state)
{
	return state != TOP_WIRE_RUN && state != TOP_WIRE_RUNQ && state != TOP_WIRE_SLEEP &&
	       state != TOP_WIRE_DISK;
}

static __always_inline bool is_known_sleep(const struct top_wire_sample *sample)
{
	return sample->state == TOP_WIRE_SLEEP && !(sample->flags & TOP_WIRE_FLAG_UNKNOWN);
}

/* Its wait may be for a lock: not all locks are seen to be such. */
static __always_inline bool is_at_futex(const struct top_wire_sample *sample)
{
	return is_known_sleep(sample) && !(sample->flags & TOP_WIRE_FLAG_KTHREAD) &&
	       is_futex(class_of_sample(sample));
}

/*
 * By its state and its call, whatever the object of that is. Kernel threads and workers of io_uring
 * sleep when there is no work. What a poll waits for decides, unless the user has a rule for it.
 */
static __always_inline bool is_idle_by_call(const struct top_wire_sample *sample)
{
	__u32 class = class_of_sample(sample);

	if (is_idle_state(sample->state))
		return true;
	if (!is_known_sleep(sample))
		return false;
	if (sample->flags & TOP_WIRE_FLAG_KTHREAD ||
	    is_idle_call(sample, is_poll(sample) ? WIRE_CALL_IDLE_GIVEN : WIRE_CALL_IDLE))
		return true;
	return is_futex(class) && !is_lock_wait(class, sample->args);
}

/* Of a thread that is not idle by its call. Where the object is not known, it is not idle. */
static __always_inline bool
is_idle_by_object(const struct top_wire_sample *sample, const struct wire_reason *reason,
		  const struct top_wire_socket *socket, const struct top_wire_uring *uring,
		  const struct wire_reason *request, const struct top_wire_settings *top)
{
	if (!is_known_sleep(sample))
		return false;
	/* Nobody can tell what an event loop waits for; files are polled for events, as mounts. */
	if (is_poll(sample))
		return is_idle_call(sample, WIRE_CALL_IDLE) &&
		       (!(sample->flags & TOP_WIRE_FLAG_POLLS_ONE) ||
			reason->object != WIRE_OBJECT_SOCKET ||
			is_idle_object(reason, socket, top));
	if (!(sample->flags & TOP_WIRE_FLAG_REASON))
		return false;
	if (sample->flags & TOP_WIRE_FLAG_URING)
		return is_idle_ring(sample, uring, request);
	return class_of_sample(sample) == WIRE_CALL_FD && is_idle_object(reason, socket, top);
}

#endif /* DENET_TOP_IDLE_BPF_H */
