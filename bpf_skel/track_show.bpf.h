/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of the pinned iterator: one line for each thread, with the stamps that the tracker keeps
 * of it. Documentation/format.txt has the form. Ids are those of the reader's PID namespace.
 */
#ifndef DENET_TRACK_SHOW_BPF_H
#define DENET_TRACK_SHOW_BPF_H

#include "regs.bpf.h"
#include "top_state.bpf.h"
#include "track_maps.bpf.h"

#define SHOWN_STATE_LEN 8

/* As in the column state of denet-top. */
static const char shown_states[TOP_WIRE_STATES][SHOWN_STATE_LEN] = {
	[TOP_WIRE_RUN] = "RUN",	      [TOP_WIRE_RUNQ] = "RUNQ",	    [TOP_WIRE_SLEEP] = "SLEEP",
	[TOP_WIRE_DISK] = "DISK",     [TOP_WIRE_IDLE] = "IDLE",	    [TOP_WIRE_STOPPED] = "STOPPED",
	[TOP_WIRE_TRACED] = "TRACED", [TOP_WIRE_PARKED] = "PARKED", [TOP_WIRE_ZOMBIE] = "ZOMBIE",
	[TOP_WIRE_DEAD] = "DEAD",     [TOP_WIRE_OTHER] = "OTHER",
};

struct shown_name {
	char text[TRACK_WIRE_NAME_LEN];
};

/* The names of the system calls, by number; set by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACK_WIRE_CALL_NAMES);
	__type(key, __u32);
	__type(value, struct shown_name);
} track_names SEC(".maps");

/* A line of the table, as it is put together. */
struct shown {
	__u32 tid;
	__u32 pid;
	__u64 state_ns;
	__u64 call_ns;
	__u64 seq;
	__u64 request_seq;
	__u32 waker_tid;
	__u32 state;
	struct shown_name call;
	char comm[WIRE_COMM_LEN];
	char waker[WIRE_COMM_LEN];
};

static __always_inline __u32 shown_id(struct pid *pid)
{
	struct task_struct *reader = bpf_get_current_task_btf();
	__u32 level = BPF_CORE_READ(reader, thread_pid, level);
	struct upid *upid;

	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
	return (__u32)BPF_CORE_READ(upid, nr);
}

/* A name is one word, whatever is in it. */
static __always_inline void show_name(char name[WIRE_COMM_LEN])
{
	for (int i = 0; i < WIRE_COMM_LEN; i++) {
		__u8 byte = (__u8)name[i];

		if (byte && (byte <= ' ' || byte == 0x7f))
			name[i] = '_';
	}
	if (!name[0]) {
		name[0] = '-';
		name[1] = 0;
	}
}

/* A call whose name is not known is a "?". */
static __always_inline void show_call(struct shown *shown, struct task_struct *task,
				      const struct track_wire_task *track, __u64 now)
{
	__u64 entered = track->entered;
	struct shown_name *name = NULL;
	__u32 nr = (__u32)track->nr;

	shown->call.text[0] = task->flags & PF_KTHREAD || (track->known && !entered) ? '-' : '?';
	shown->call.text[1] = 0;
	if (!entered)
		return;
	if (!is_compat_call(task, (struct pt_regs *)bpf_task_pt_regs(task)))
		name = bpf_map_lookup_elem(&track_names, &nr);
	if (name && name->text[0])
		shown->call = *name;
	shown->call_ns = now > entered ? now - entered : 0;
	shown->seq = track->seq;
}

static __always_inline void show_track(struct shown *shown, struct task_struct *task)
{
	struct track_wire_task *track = track_of(task);
	__u64 now = bpf_ktime_get_ns(), since;

	shown->call.text[0] = '?';
	if (!track)
		return;
	show_call(shown, task, track, now);
	since = track_since(track, shown->state == TOP_WIRE_RUN, shown->state == TOP_WIRE_RUNQ);
	shown->state_ns = since && now > since ? now - since : 0;
	if (track->nr_requests && track_request(task, track, track->nr_requests))
		shown->request_seq = track->nr_requests;
	shown->waker_tid = track->waker_tid;
	if (track->waker_kind == TRACK_WIRE_WAKER_INTERRUPT)
		__builtin_memcpy(shown->waker, "[interrupt]", 12);
	else
		__builtin_memcpy(shown->waker, track->waker, sizeof(shown->waker));
}

static __always_inline int show_thread(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct seq_file *seq = ctx->meta->seq;
	struct shown shown = { .state = visible_state(task) };

	shown.tid = shown_id(BPF_CORE_READ(task, thread_pid));
	shown.pid = shown_id(BPF_CORE_READ(task, group_leader, thread_pid));
	bpf_probe_read_kernel_str(shown.comm, sizeof(shown.comm), task->comm);
	show_track(&shown, task);
	show_name(shown.comm);
	show_name(shown.waker);
	if (!ctx->meta->seq_num)
		BPF_SEQ_PRINTF(seq, "TID TGID COMM STATE STATE_NS SYSCALL SYSC_NS SYSC_SEQ_NUM "
				    "IORQ_SEQ_NUM WAKER_TID WAKER\n");
	BPF_SEQ_PRINTF(seq, "%u %u %s %s %llu %s %llu %llu %llu %u %s\n", shown.tid, shown.pid,
		       shown.comm, shown_states[shown.state < TOP_WIRE_STATES ? shown.state : 0],
		       shown.state_ns, shown.call.text, shown.call_ns, shown.seq,
		       shown.request_seq, shown.waker_tid, shown.waker);
	return 0;
}

#endif /* DENET_TRACK_SHOW_BPF_H */
