/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the kernel stack of each task that gets a CPU twice, and compares: see
 * test_kernel_walk.c. It is done where the recorder does it: at sched_switch, before the task runs,
 * as all kernels can, or at one of the hooks at switch-in.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "known_kernel.bpf.h"
#include "orc_programs.bpf.h"
#include "kernel_walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct orc_room);
} rooms SEC(".maps");

struct walk_counts result;
struct kept_walk differences[KEPT_WALKS]; /* the first ones of both kinds */
volatile __u32 nr_differences;
struct kept_walk refusals[KEPT_WALKS];
volatile __u32 nr_refusals;

static __always_inline void keep(struct kept_walk *kept, struct orc_room *room,
				 struct task_struct *task, __u32 nr, __u32 nr_kernel)
{
	__u32 bytes = room->walk.top;

	kept->nr_ours = nr;
	kept->nr_kernel = nr_kernel;
	bpf_probe_read_kernel_str(kept->comm, sizeof(kept->comm), task->comm);
	bpf_probe_read_kernel(kept->ours, sizeof(kept->ours), room->ours.ips);
	bpf_probe_read_kernel(kept->kernels, sizeof(kept->kernels), room->kernels.ips);
	/* Behind the end of the stack there may be no memory. */
	if (bytes > sizeof(kept->words))
		bytes = sizeof(kept->words);
	bpf_probe_read_kernel(kept->words, bytes, (const void *)room->walk.base);
}

static __always_inline void keep_in(struct kept_walk *room_of, volatile __u32 *nr,
				    struct orc_room *room, struct task_struct *task, __u32 ours,
				    __u32 kernels)
{
	__u32 at = __sync_fetch_and_add(nr, 1);

	if (at < KEPT_WALKS)
		keep(&room_of[at], room, task, ours, kernels);
}

__noinline int is_in_module(const struct frame_room *frames, __u32 nr)
{
	if (!frames)
		return 0;
	for (__u32 i = 0; i < WALK_FRAMES; i++) {
		if (i >= nr)
			break;
		if (frames->ips[i] < orc.vmlinux.start || frames->ips[i] >= orc.vmlinux.end)
			return 1;
	}
	return 0;
}

/* Whether the hash that our walk has made is the one over its nr frames. */
__noinline int is_hashed(const struct orc_room *room, __u32 nr)
{
	__u64 hash = FRAMES_SEED_KERNEL;

	if (!room)
		return 0;
	for (__u32 i = 0; i < WALK_FRAMES; i++) {
		if (i >= nr)
			break;
		hash = hash_frame(hash, room->ours.ips[i]);
	}
	return hash == room->walk.frame.hash;
}

/* Counts what became of two walks of nr and nr_kernel frames. */
static __always_inline int judge(struct task_struct *task, struct orc_room *room, __u32 nr,
				 __u32 nr_kernel, bool same)
{
	if (!nr_kernel) {
		__sync_fetch_and_add(&result.none, 1);
		return 0;
	}
	/* Its stack ends where the frame of __schedule() would be. */
	if (!nr && room->walk.top <= orc.frame_words * WORD_BYTES) {
		__sync_fetch_and_add(&result.newborn, 1);
		return 0;
	}
	if (!nr) {
		__sync_fetch_and_add(&result.left, 1);
		keep_in(refusals, &nr_refusals, room, task, room->walk.frame.nr, nr_kernel);
		return 0;
	}
	if (!same || !is_hashed(room, nr)) {
		__sync_fetch_and_add(&result.differ, 1);
		keep_in(differences, &nr_differences, room, task, nr, nr_kernel);
		return 0;
	}
	__sync_fetch_and_add(&result.same, 1);
	if (room->walk.recognized)
		__sync_fetch_and_add(&result.recognized, 1);
	if (is_in_module(&room->ours, nr))
		__sync_fetch_and_add(&result.in_modules, 1);
	return 0;
}

/* Before the task runs: its stack is that of a sleeper. */
SEC("tp_btf/sched_switch")
int BPF_PROG(compare_next, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 zero = 0, nr, nr_kernel;
	struct orc_room *room = bpf_map_lookup_elem(&rooms, &zero);

	if (!room || !next->pid)
		return 0;
	nr = walk_twice(next, room, &nr_kernel);
	return judge(next, room, nr, nr_kernel, nr && is_same_walk(room, nr, nr_kernel));
}

/* The place of __schedule() in the kernel's frames, behind the tracer's. */
__noinline __u32 find_schedule(const struct frame_room *frames)
{
	if (!frames)
		return 0;
	for (__u32 i = 0; i < 20; i++) {
		if (frames->ips[i] >= orc.schedule_start && frames->ips[i] < orc.schedule_end)
			return i;
	}
	return WALK_FRAMES;
}

/* Whether the frames behind __schedule() are the same. */
__noinline int is_same_from(const struct orc_room *room, __u32 nr, __u32 nr_kernel, __u32 schedule)
{
	if (!room || nr > WALK_FRAMES || schedule >= 20 || nr + schedule != nr_kernel)
		return 0;
	for (__u32 i = 1; i < WALK_FRAMES; i++) {
		if (i >= nr)
			break;
		if (room->ours.ips[i] != room->kernels.ips[i + schedule])
			return 0;
	}
	return 1;
}

/* The kernel's walk, and how long it took. */
static __always_inline __u32 walk_kernels(void *ctx, struct orc_room *room, __u64 *ns)
{
	__u64 start = bpf_ktime_get_ns();
	long bytes = bpf_get_stack(ctx, room->kernels.ips, sizeof(room->kernels.ips), 0);
	__u32 nr = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;

	*ns = bpf_ktime_get_ns() - start;
	learn_syscall_caller(room->kernels.ips, nr);
	return nr;
}

/* Adds up what both walks took, where both have found frames, and a reading of the clock. */
static __always_inline void add_times(__u64 ours_ns, __u64 kernels_ns)
{
	__u64 start = bpf_ktime_get_ns();

	__sync_fetch_and_add(&result.clock_ns, bpf_ktime_get_ns() - start);
	__sync_fetch_and_add(&result.timed, 1);
	__sync_fetch_and_add(&result.ours_ns, ours_ns);
	__sync_fetch_and_add(&result.kernels_ns, kernels_ns);
}

/*
 * When it runs again, as the recorder walks it: what lay below its frames is overwritten. By turns
 * one walk is the first, which finds less of the stack in the caches.
 */
static __always_inline int compare_current(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, nr, nr_kernel = 0;
	struct orc_room *room = bpf_map_lookup_elem(&rooms, &zero);
	__u64 start, ours_ns, kernels_ns = 0;
	bool ours_first = result.timed & 1;

	if (!room || !task->pid)
		return 0;
	if (!ours_first)
		nr_kernel = walk_kernels(ctx, room, &kernels_ns);
	start = bpf_ktime_get_ns();
	nr = walk_own_stack(&room->walk, task, room->ours.ips);
	ours_ns = bpf_ktime_get_ns() - start;
	if (ours_first)
		nr_kernel = walk_kernels(ctx, room, &kernels_ns);
	if (nr && nr_kernel)
		add_times(ours_ns, kernels_ns);
	return judge(task, room, nr, nr_kernel,
		     nr && is_same_from(room, nr, nr_kernel, find_schedule(&room->kernels)));
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(compare_at_exit_tp, bool is_switch)
{
	return is_switch ? compare_current(ctx) : 0;
}

/* The hook of kernels before 6.16. Tasks that run for the first time come by here as well. */
SEC("fentry/__perf_event_task_sched_in")
int BPF_PROG(compare_at_fentry)
{
	return compare_current(ctx);
}
