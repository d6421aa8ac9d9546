/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of block devices, from issue to completion, whoever issued them: what a thread waits for
 * may have been sent on by a kernel thread. The waits of targets after requests of their own are
 * counted beside them.
 */
#ifndef DENET_STAT_IO_BPF_H
#define DENET_STAT_IO_BPF_H

#include "request.bpf.h"
#include "stat_waits.bpf.h"

const volatile __u8 stat_counts_io = 0;

struct stat_request {
	__u64 issued;
	struct stat_wire_io_key key;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_REQUESTS);
	__type(key, __u64);
	__type(value, struct stat_request);
} stat_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_IO);
	__type(key, struct stat_wire_io_key);
	__type(value, struct stat_wire_io);
} stat_io SEC(".maps");

static __always_inline struct stat_wire_io *stat_io_of(const struct stat_wire_io_key *key)
{
	struct stat_wire_io *io = bpf_map_lookup_elem(&stat_io, key);
	const struct stat_zeros *zeros = stat_zeros();

	if (io || !zeros)
		return io;
	bpf_map_update_elem(&stat_io, key, &zeros->io, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stat_io, key);
}

static __always_inline int stat_issue(struct request *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 id = (__u64)request;
	struct stat_request started = {};
	struct stat_thread *thread;
	__u32 op;

	if (phase != WIRE_PHASE_RUNNING)
		return 0;
	op = BPF_CORE_READ(request, cmd_flags) & REQUEST_OP;
	started.key.dev = device_of_request(request);
	started.key.op = op < STAT_WIRE_IO_OTHER ? op : STAT_WIRE_IO_OTHER;
	started.bytes = BPF_CORE_READ(request, __data_len);
	started.issued = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&stat_requests, &id, &started, BPF_ANY))
		__sync_fetch_and_add(&stat_losses.requests, 1);
	thread = stat_thread_of(task);
	if (thread) {
		thread->io_key = started.key;
		thread->io = 1;
	}
	return 0;
}

static __always_inline int stat_complete_request(struct request *request, int error, __u32 bytes)
{
	__u64 id = (__u64)request, now;
	struct stat_request *started;
	struct stat_wire_io *io;

	started = bpf_map_lookup_elem(&stat_requests, &id);
	if (!started || !is_last_part(request, bytes))
		return 0;
	now = bpf_ktime_get_ns();
	io = is_over(now) ? NULL : stat_io_of(&started->key);
	if (io) {
		stat_add_shared(&io->times, now - started->issued);
		__sync_fetch_and_add(&io->bytes, started->bytes);
		if (error)
			__sync_fetch_and_add(&io->errors, 1);
	} else if (!is_over(now)) {
		__sync_fetch_and_add(&stat_losses.requests, 1);
	}
	bpf_map_delete_elem(&stat_requests, &id);
	return 0;
}

/* The uninterruptible wait of a thread that issued a request before is a wait for that device. */
static __always_inline void stat_end_io(struct task_struct *task, struct task_state *ts,
					struct stat_thread *thread, __u64 ns)
{
	struct stat_wire_io *io;

	if (!stat_counts_io || !thread->io)
		return;
	thread->io = 0;
	if (ts->state != WIRE_STATE_D)
		return;
	io = stat_io_of(&thread->io_key);
	if (!io)
		return;
	if (ns > io->longest_ns) {
		io->longest_ns = ns;
		io->waiter = target_tid(task, ts);
		bpf_probe_read_kernel_str(io->comm, sizeof(io->comm), task->comm);
	}
	__sync_fetch_and_add(&io->waits, 1);
	__sync_fetch_and_add(&io->waited_ns, ns);
}

#endif /* DENET_STAT_IO_BPF_H */
