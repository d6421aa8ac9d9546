/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the user stack of each thread of some processes that gets a CPU, and copies it: see
 * test_user_walk.c.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "regs.bpf.h"
#include "user_walk.bpf.h"
#include "user_walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline __u32 rules_pid(struct task_struct *task)
{
	return task->tgid;
}

struct room {
	struct user_walk walk;
	struct frame_room out;
	__u64 nr_walks;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct room);
} rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} walks SEC(".maps");

volatile __u32 walked_pids[WALKED_TARGETS];
__u64 walked_ends[USER_WALK_ENDS];
__u64 walks_known;

/* Places that are not in use are 0, as are the idle tasks. */
static __always_inline bool is_walked(__u32 pid)
{
	for (int i = 0; i < WALKED_TARGETS; i++) {
		if (walked_pids[i] == pid)
			return pid;
	}
	return false;
}

__noinline int copy_walked(struct walked *walked, __u64 sp)
{
	__u32 rest;

	if (!walked)
		return 0;
	for (__u32 at = 0; at < WALKED_COPY; at += WALKED_CHUNK) {
		if (!bpf_probe_read_user(&walked->stack[at], WALKED_CHUNK, (void *)(sp + at)))
			continue;
		rest = WALKED_CHUNK - ((sp + at) & (WALKED_CHUNK - 1));
		asm volatile("%0 &= %1" : "+r"(rest) : "i"(WALKED_CHUNK - 1));
		return bpf_probe_read_user(&walked->stack[at], rest, (void *)(sp + at)) ? at :
											  at + rest;
	}
	return WALKED_COPY;
}

static __always_inline int compare(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walked *walked;
	struct room *room;
	__u32 zero = 0;
	__u32 end = 0;

	if (!is_walked(task->tgid) || task->flags & 4 /* PF_EXITING */)
		return 0;
	room = bpf_map_lookup_elem(&rooms, &zero);
	if (!room)
		return 0;
	walked = bpf_ringbuf_reserve(&walks, sizeof(*walked), 0);
	if (!walked)
		return 0;
	/* By turns, and not by threads that take turns, so that walks of all kinds are compared. */
	if (room->nr_walks++ % 3 == 0)
		walked->nr = walk_user_tables(&room->walk, task, room->out.ips, &end);
	else
		walked->nr = walk_known_user(&room->walk, task, room->out.ips, &end);
	if (walked->nr && room->walk.recognized) {
		copy_known(room->walk.known, room->out.ips);
		walks_known++;
	}
	bpf_probe_read_kernel(walked->ips, sizeof(walked->ips), room->out.ips);
	copy_user_regs(walked->regs, (struct pt_regs *)bpf_task_pt_regs(task));
	walked->time = bpf_ktime_get_ns();
	walked->pid = task->tgid;
	walked->call = user_call_nr((struct pt_regs *)bpf_task_pt_regs(task));
	walked->end = end;
	walked->bytes = copy_walked(walked, walked->regs[USER_REG_SP]);
	if (walked->nr && end < USER_WALK_ENDS)
		walked_ends[end]++;
	/* A reader that is woken has this CPU at once, and the next walk is at the same place. */
	bpf_ringbuf_submit(walked, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(walk_at_exit_tp, bool is_switch)
{
	return is_switch ? compare() : 0;
}

SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(room_found)
{
	note_unmapped_code();
	return 0;
}

SEC("fentry/__perf_event_task_sched_in")
int BPF_PROG(walk_at_fentry)
{
	return compare();
}
