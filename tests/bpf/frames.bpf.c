/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks the user stack of a process that leaves its CPU twice, and compares: see test_frames.c. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "frames.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct room {
	struct frame_room ours;
	struct frame_room kernels;
	struct frame_room piece;
	struct walked_side side;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct room);
} rooms SEC(".maps");

/* The results for test_frames.c, which repeats the layout of this struct. */
struct {
	__u64 same;
	__u64 differ;
	__u64 refused; /* not for our walk */
	__u64 deepest;
	__u64 differ_at; /* the first difference: numbers of frames, place, both addresses */
	__u64 ours;
	__u64 kernels;
	__u64 nr_ours;
	__u64 nr_kernels;
} result;

volatile __u32 pid;

__noinline __u32 first_difference(const struct frame_room *a, const struct frame_room *b, __u32 nr)
{
	if (!a || !b)
		return 0;
	for (__u32 i = 0; i < WIRE_MAX_FRAMES; i++) {
		if (i >= nr || a->ips[i] != b->ips[i])
			return i;
	}
	return WIRE_MAX_FRAMES;
}

/* Whether the walk has told the number and the hash of its frames. */
__noinline int is_told(const struct room *room, __u32 nr)
{
	__u64 hash = FRAMES_SEED_USER;

	if (!room)
		return 0;
	for (__u32 i = 0; i < WIRE_MAX_FRAMES; i++) {
		if (i >= nr)
			break;
		hash = hash_frame(hash, room->ours.ips[i]);
	}
	return room->side.nr == nr && room->side.hash == hash;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(compare_walks, bool preempt, struct task_struct *prev)
{
	__u32 zero = 0, nr, at;
	struct room *room;
	long bytes;

	if ((__u32)prev->tgid != pid)
		return 0;
	room = bpf_map_lookup_elem(&rooms, &zero);
	if (!room)
		return 0;
	nr = walk_user_frames(bpf_get_current_task_btf(), room->ours.ips, &room->piece,
			      WIRE_MAX_FRAMES, &room->side);
	bytes = bpf_get_stack(ctx, &room->kernels, sizeof(room->kernels), BPF_F_USER_STACK);
	/* While it dies its memory is gone already. */
	if (bytes <= 0)
		return 0;
	if (!nr) {
		__sync_fetch_and_add(&result.refused, 1);
		return 0;
	}
	if (nr > result.deepest)
		result.deepest = nr;
	at = first_difference(&room->ours, &room->kernels, nr);
	if (nr == bytes / sizeof(__u64) && at == nr && is_told(room, nr)) {
		__sync_fetch_and_add(&result.same, 1);
		return 0;
	}
	if (!__sync_fetch_and_add(&result.differ, 1)) {
		at = at < WIRE_MAX_FRAMES ? at : WIRE_MAX_FRAMES - 1;
		result.differ_at = at;
		result.ours = room->ours.ips[at];
		result.kernels = room->kernels.ips[at];
		result.nr_ours = nr;
		result.nr_kernels = bytes / sizeof(__u64);
	}
	return 0;
}
