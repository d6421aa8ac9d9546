/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs by which user space sets up the walk of kernel stacks: see util/bpf/orc.c. */
#ifndef DENET_ORC_PROGRAMS_BPF_H
#define DENET_ORC_PROGRAMS_BPF_H

#include "kernel_walk.bpf.h"

struct orc_room {
	struct kernel_walk walk;
	struct frame_room ours;
	struct frame_room kernels;
	/*
	 * Frames of ours that the kernel's walk leaves out. In memory, since the verifier would
	 * follow each number.
	 */
	__u32 left_out;
	__u32 reserved;
};

/* One pass runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct orc_room);
} orc_rooms SEC(".maps");

volatile __u64 orc_same;   /* stacks of sleeping tasks for which both walks agree */
volatile __u64 orc_differ;

/* Reports where __schedule() left each task that is off the CPU, and the ORC entry there. */
SEC("iter/task")
int orc_sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_orc_sleeper sleeper = {};
	struct wire_orc_table table;
	struct orc_entry entry;
	__u64 saved[2];

	if (!has_kernel_walk || !task || task->on_cpu)
		return 0;
	sleeper.sp = task->thread.sp + INACTIVE_BYTES;
	if (bpf_probe_read_kernel(saved, sizeof(saved),
				  (const void *)(sleeper.sp - INACTIVE_BYTES + INACTIVE_BP)))
		return 0;
	sleeper.bp = saved[0];
	sleeper.ret = saved[1];
	if (sleeper.ret < orc.schedule_start || sleeper.ret >= orc.schedule_end)
		return 0;
	table.ips = orc.vmlinux.ips;
	table.entries = orc.vmlinux.entries;
	table.nr = orc.vmlinux.nr;
	if (!find_orc_entry(&table, sleeper.ret - 1, &entry))
		return 0;
	sleeper.entry = (__u16)entry.sp_offset | (__u64)(__u16)entry.bp_offset << 16 |
			(__u64)entry.bits << 32;
	bpf_seq_write(ctx->meta->seq, &sleeper, sizeof(sleeper));
	return 0;
}

/* The kernel's walk of another task leaves out frames of the scheduler, wherever they are. */
static __always_inline bool is_left_out(__u64 ip)
{
	return (ip >= orc.scheduler[0] && ip < orc.scheduler[1]) ||
	       (ip >= orc.scheduler[2] && ip < orc.scheduler[3]);
}

/*
 * True if a frame of ours is the next one of the kernel's. A global function, so that the verifier
 * follows it once.
 */
__noinline int is_same_frame(struct orc_room *room, __u32 i)
{
	__u32 at;

	if (!room || i >= WALK_FRAMES)
		return 0;
	at = i - *(volatile __u32 *)&room->left_out;
	if (is_left_out(room->ours.ips[i])) {
		room->left_out++;
		return 1;
	}
	return at < WIRE_MAX_FRAMES && room->kernels.ips[at] == room->ours.ips[i];
}

/* Whether our nr frames are the nr_kernel of the kernel's. */
static __always_inline bool is_same_walk(struct orc_room *room, __u32 nr, __u32 nr_kernel)
{
	room->left_out = 0;
	for (__u32 i = 0; i < WALK_FRAMES && i < nr; i++) {
		if (!is_same_frame(room, i))
			return false;
	}
	return nr - room->left_out == nr_kernel;
}

/* Walks a task that is off its CPU in both ways. The number of our frames; 0: we cannot. */
static __always_inline __u32 walk_twice(struct task_struct *task, struct orc_room *room,
					__u32 *nr_kernel)
{
	long bytes = bpf_get_task_stack(task, room->kernels.ips, sizeof(room->kernels.ips), 0);

	*nr_kernel = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	if (!*nr_kernel)
		return 0;
	learn_syscall_caller(room->kernels.ips, *nr_kernel);
	return walk_unproven(&room->walk, task, room->ours.ips);
}

/* Compares both walks for each task that is off its CPU and stays so. */
SEC("iter/task")
int orc_check(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0, nr, nr_kernel;
	struct orc_room *room;
	__u64 sp;

	room = bpf_map_lookup_elem(&orc_rooms, &zero);
	if (!has_kernel_walk || !task || !room || task->on_cpu)
		return 0;
	sp = task->thread.sp;
	nr = walk_twice(task, room, &nr_kernel);
	if (!nr || task->on_cpu || task->thread.sp != sp)
		return 0;
	if (is_same_walk(room, nr, nr_kernel))
		orc_same++;
	else
		orc_differ++;
	return 0;
}

SEC("syscall")
int orc_module(struct wire_orc_module *module)
{
	return read_orc_module(module);
}

SEC("tp_btf/module_load")
int BPF_PROG(module_came)
{
	__sync_fetch_and_add(&orc.epoch, 1);
	return 0;
}

SEC("tp_btf/module_free")
int BPF_PROG(module_gone)
{
	forget_modules();
	return 0;
}

#endif /* DENET_ORC_PROGRAMS_BPF_H */
