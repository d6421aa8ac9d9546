/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/thread_sample.h"

#include <errno.h>
#include <string.h>

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

int thread_sample__decode(const void *data, size_t size, struct thread_sample *sample)
{
	const char *bytes = data;
	struct top_wire_sample wire;
	struct wire_reason reason;
	size_t at = sizeof(wire);
	int len;

	if (size < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.head.kind != TOP_WIRE_SAMPLE || wire.head.size != sizeof(wire) ||
	    wire.state >= TOP_WIRE_STATES)
		return -EINVAL;
	take_sample(&wire, sample);
	if (sample->has_object) {
		if (size - at < sizeof(reason))
			return -EINVAL;
		memcpy(&reason, bytes + at, sizeof(reason));
		len = reason__decode(&reason, sizeof(reason), &sample->reason);
		if (len < 0)
			return len;
		at += (size_t)len;
	}
	if (sample->has_socket) {
		len = take_socket(bytes + at, size - at, &sample->socket);
		if (len < 0)
			return len;
		at += (size_t)len;
	}
	return (int)at;
}
