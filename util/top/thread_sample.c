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
		.idle = wire->flags & TOP_WIRE_FLAG_IDLE,
		.user_pc = wire->user_pc,
		.user_fp = wire->user_fp,
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
	if (socket->head.kind != TOP_WIRE_SOCKET || socket->head.size != sizeof(*socket))
		return -EINVAL;
	return (int)sizeof(*socket);
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

int thread_sample__decode(const void *data, size_t size, struct thread_sample *sample)
{
	const char *bytes = data;
	struct top_wire_sample wire;
	size_t at = sizeof(wire);
	int len = 0;

	if (size < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.head.kind != TOP_WIRE_SAMPLE || wire.head.size != sizeof(wire) ||
	    wire.state >= TOP_WIRE_STATES)
		return -EINVAL;
	take_sample(&wire, sample);
	if (sample->has_object)
		len = take_object(bytes + at, size - at, &sample->reason);
	at += len > 0 ? (size_t)len : 0;
	if (len >= 0 && sample->has_socket) {
		len = take_socket(bytes + at, size - at, &sample->socket);
		at += len > 0 ? (size_t)len : 0;
	}
	if (len >= 0 && wire.flags & TOP_WIRE_FLAG_KERNEL) {
		len = take_stack(bytes + at, size - at, sample);
		at += len > 0 ? (size_t)len : 0;
	}
	if (len >= 0 && wire.flags & TOP_WIRE_FLAG_TRACK) {
		len = take_track(bytes + at, size - at, &sample->track);
		at += len > 0 ? (size_t)len : 0;
	}
	return len < 0 ? len : (int)at;
}
