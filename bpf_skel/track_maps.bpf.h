/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps that denet-top's tracker and its samplers share. */
#ifndef DENET_TRACK_MAPS_BPF_H
#define DENET_TRACK_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "track_wire.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct track_wire_task);
} track_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACK_WIRE_REQUESTS);
	__type(key, __u64);
	__type(value, struct track_wire_request);
} track_requests SEC(".maps");

static __always_inline struct track_wire_task *track_of(struct task_struct *task)
{
	return bpf_task_storage_get(&track_tasks, task, NULL, 0);
}

/* The request of that number of a thread, while it is in flight. */
static __always_inline struct track_wire_request *track_request(struct task_struct *task,
								const struct track_wire_task *track,
								__u64 seq)
{
	__u64 at = track->requests[seq & (TRACK_WIRE_LATEST - 1)];
	struct track_wire_request *request = at ? bpf_map_lookup_elem(&track_requests, &at) : NULL;

	return request && request->seq == seq && request->task == (__u64)task ? request : NULL;
}

/*
 * Since when a thread has been in its state. 0: not seen, or it is being switched. A thread that
 * was woken up is runnable from then on.
 */
static __always_inline __u64 track_since(const struct track_wire_task *track, bool on_cpu,
					 bool runnable)
{
	__u64 came = track->came, left = track->left, woken = track->woken;

	if (on_cpu)
		return came;
	if (came > left)
		return 0;
	if (!runnable)
		return woken > left ? 0 : left;
	return track->preempted ? left : woken > left ? woken : 0;
}

#endif /* DENET_TRACK_MAPS_BPF_H */
