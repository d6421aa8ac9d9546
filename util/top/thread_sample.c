/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/thread_sample.h"

#include <errno.h>
#include <string.h>

#include "base/idmap.h"
#include "capture/decode.h"
#include "capture/reason.h"

static void take_sample(const struct top_wire_sample *wire, struct thread_sample *sample)
{
	*sample = (struct thread_sample){
		.time = wire->time,
		.state_ns = wire->state_ns,
		.start = wire->start,
		.cgroup = wire->cgroup,
		.wchan = wire->wchan,
		.nr = wire->nr,
		.pid = wire->pid,
		.tid = wire->tid,
		.uid = wire->uid,
		.pid_ns = wire->pid_ns,
		.cpu = wire->cpu,
		.state = wire->state,
		.kthread = wire->flags & TOP_WIRE_FLAG_KTHREAD,
		.compat = wire->flags & TOP_WIRE_FLAG_COMPAT,
		.call_unknown = wire->flags & TOP_WIRE_FLAG_UNKNOWN,
		.has_object = wire->flags & TOP_WIRE_FLAG_REASON,
		.has_socket = wire->flags & TOP_WIRE_FLAG_SOCKET,
		.has_uring = wire->flags & TOP_WIRE_FLAG_URING,
		.has_request = wire->flags & TOP_WIRE_FLAG_URING_FILE,
		.same_kernel = wire->flags & TOP_WIRE_FLAG_SAME_KERNEL,
		.idle = wire->flags & TOP_WIRE_FLAG_IDLE,
		.switches = wire->switches,
	};
	memcpy(sample->args, wire->args, sizeof(sample->args));
	memcpy(sample->comm, wire->comm, strnlen(wire->comm, sizeof(wire->comm)));
	memcpy(sample->exe, wire->exe, strnlen(wire->exe, sizeof(wire->exe)));
}

static int take_socket(const void *data, size_t size, struct top_wire_socket *socket)
{
	if (size < sizeof(*socket))
		return -EINVAL;
	memcpy(socket, data, sizeof(*socket));
	if (socket->head.kind != TOP_WIRE_SOCKET || socket->head.size != sizeof(*socket) ||
	    socket->path_len > sizeof(socket->path))
		return -EINVAL;
	return (int)sizeof(*socket);
}

static int take_uring(const void *data, size_t size, struct top_wire_uring *uring)
{
	if (size < sizeof(*uring))
		return -EINVAL;
	memcpy(uring, data, sizeof(*uring));
	if (uring->head.kind != TOP_WIRE_URING || uring->head.size != sizeof(*uring))
		return -EINVAL;
	return (int)sizeof(*uring);
}

static void copy_track(const struct top_wire_track *wire, struct thread_track *track)
{
	*track = (struct thread_track){
		.what = wire->what,
		.calls_known = wire->calls_known,
		.entered = wire->entered,
		.seq = wire->seq,
		.nr = wire->nr,
		.since = wire->since,
		.request_seq = wire->request_seq,
		.requests = wire->requests,
		.waker_kind = wire->waker_kind,
		.waker_tid = wire->waker_tid,
		.owner = wire->owner,
		.owner_shared = wire->owner_shared,
	};
	memcpy(track->waker, wire->waker, strnlen(wire->waker, sizeof(wire->waker)));
}

static int take_track(const void *data, size_t size, struct thread_track *track)
{
	struct top_wire_track wire;

	if (size < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, data, sizeof(wire));
	if (wire.head.kind != TOP_WIRE_TRACK || wire.head.size != sizeof(wire) ||
	    wire.waker_kind > TRACK_WIRE_WAKER_INTERRUPT)
		return -EINVAL;
	copy_track(&wire, track);
	return (int)sizeof(wire);
}

uint64_t thread_sample__hash(const struct frames *frames)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < frames->nr; i++)
		hash = idmap__mix(hash, frames->ips[i]);
	return hash;
}

static int take_object(const void *data, size_t size, struct reason *reason)
{
	struct wire_reason wire;

	if (size < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, data, sizeof(wire));
	return reason__decode(&wire, sizeof(wire), reason);
}

static int take_regs(const void *data, size_t size, struct thread_sample *sample)
{
	const struct top_wire_regs *regs = data;

	if (size < sizeof(*regs) || regs->head.kind != TOP_WIRE_REGS ||
	    regs->head.size != sizeof(*regs))
		return -EINVAL;
	sample->user_regs = (const uint64_t *)regs->regs;
	return (int)sizeof(*regs);
}

static int take_stack(const void *data, size_t size, struct thread_sample *sample)
{
	struct decoded_stack stack;
	int len = decode__stack(data, size, &stack);

	if (len < 0)
		return len;
	sample->kernel = stack.frames;
	sample->kernel_id = thread_sample__hash(&sample->kernel);
	return len;
}

/* The records that follow the one of the thread, at data. Their bytes or -EINVAL. */
static int take_parts(const char *data, size_t size, uint32_t flags, struct thread_sample *sample)
{
	const bool has[] = { sample->has_object, sample->has_socket, sample->has_uring,
			     sample->has_request, (flags & TOP_WIRE_FLAG_REGS) != 0,
			     (flags & TOP_WIRE_FLAG_KERNEL) != 0,
			     (flags & TOP_WIRE_FLAG_TRACK) != 0 };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++) {
		const char *part = data + at;
		size_t left = size - at;
		int len = 0;

		if (!has[i])
			continue;
		switch (i) {
		case 0:
			len = take_object(part, left, &sample->reason);
			break;
		case 1:
			len = take_socket(part, left, &sample->socket);
			break;
		case 2:
			len = take_uring(part, left, &sample->uring);
			break;
		case 3:
			len = take_object(part, left, &sample->request);
			break;
		case 4:
			len = take_regs(part, left, sample);
			break;
		case 5:
			len = take_stack(part, left, sample);
			break;
		default:
			len = take_track(part, left, &sample->track);
		}
		if (len < 0)
			return len;
		at += (size_t)len;
	}
	return (int)at;
}

int thread_sample__decode(const void *data, size_t size, struct thread_sample *sample)
{
	struct top_wire_sample wire;
	int len;

	if (size < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, data, sizeof(wire));
	if (wire.head.kind != TOP_WIRE_SAMPLE || wire.head.size != sizeof(wire) ||
	    wire.state >= TOP_WIRE_STATES)
		return -EINVAL;
	take_sample(&wire, sample);
	len = take_parts((const char *)data + sizeof(wire), size - sizeof(wire), wire.flags,
			 sample);
	return len < 0 ? len : (int)sizeof(wire) + len;
}

struct activity_times thread_sample__times(const struct thread_sample *sample)
{
	uint64_t entered = sample->track.entered;
	struct activity_times times = { { [ACTIVITY_TIME_STATE] = sample->state_ns } };

	/* A call that has just begun has a time as well. */
	if (entered)
		times.ns[ACTIVITY_TIME_CALL] = sample->time > entered ? sample->time - entered : 1;
	return times;
}
