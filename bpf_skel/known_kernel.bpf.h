/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel stacks that were walked before. By rules that begin at the stack pointer, all that a walk
 * finds depends on the return addresses that it reads, and these are its frames. They are compared
 * at once, where a walk waits for the rule of each frame before it knows where the next one lies. A
 * walk that ends at the registers of user space also depends on where the stack ends.
 */
#ifndef DENET_KNOWN_KERNEL_BPF_H
#define DENET_KNOWN_KERNEL_BPF_H

#include "kernel_walk.bpf.h"
#include "known.bpf.h"

#define KNOWN_KERNELS 64U	/* on each CPU; a power of two */
#define KNOWN_KERNEL_FRAMES 32U /* of a stack that is remembered; a power of two */
#define KNOWN_KERNEL_STEPS 2	/* from the caller of __schedule() to the frame of the key */

struct known_kernel {
	__u64 key;	/* see find_key() */
	__u64 hash;	/* over its frames */
	__u32 epoch;	/* of the rules */
	__u32 nr;	/* of its frames; 0: only its key is known */
	__u32 nr_read;	/* of these, up to the last one whose address lies on the stack */
	__u32 bytes;	/* from the walk's base to behind that address */
	__u32 top;	/* where its stack must end; 0: anywhere */
	__u32 misses;	/* in a row: it had this key, and had other frames */
	__u16 places[KNOWN_KERNEL_FRAMES]; /* where each frame's address lies */
	__u64 ips[KNOWN_KERNEL_FRAMES];
};

/* Without loads from where a stack lies there is no such map. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KNOWN_KERNELS);
	__type(key, __u32);
	__type(value, struct known_kernel);
} known_kernels SEC(".maps");

static __always_inline struct known_kernel *known_kernel_of(__u64 key)
{
	__u32 place = (__u32)(key >> 32) & (KNOWN_KERNELS - 1);

	return bpf_map_lookup_elem(&known_kernels, &place);
}

/*
 * By what a known stack is found: the system call, and the return address that tells most of what
 * it waits for, as that of wait_woken() above schedule_timeout(). Where the stack ends is no part
 * of it, since the kernel moves that at random in each call. 0: cached rules that begin at the
 * stack pointer do not lead there.
 */
static __always_inline __u64 find_key(const struct kernel_walk *walk)
{
	__u32 place = orc.frame_words * WORD_BYTES;
	struct live_stack live;
	__u64 ip, rule;

	find_live(&live, walk);
	ip = load_word(&live, place - WORD_BYTES);
	for (int i = 0; i < KNOWN_KERNEL_STEPS; i++) {
		if (!find_rule(ip, &rule) || rule_kind(rule) != ORC_SP)
			return 0;
		place += rule_offset(rule, RULE_CFA_SHIFT);
		ip = load_word(&live, place - WORD_BYTES);
	}
	ip ^= load_word(&live, walk->top + REGS_CALL * WORD_BYTES) << 32;
	return ip * 0x9e3779b97f4a7c15ULL;
}

/*
 * Puts the known frames into out; whether they are those on the stack of current. A global
 * function, so that the verifier follows it once.
 */
__noinline int has_known_frames(const struct kernel_walk *walk, const struct known_kernel *known,
				struct frame_room *out)
{
	__u64 difference = 0, ip;
	struct live_stack live;
	__u32 last;

	if (!walk || !known || !out || !has_kernel_loads)
		return 0;
	if (known->bytes > walk->top || (known->top && known->top != walk->top))
		return 0;
	find_live(&live, walk);
	out->ips[0] = known->ips[0];
	for (__u32 i = 1; i < KNOWN_KERNEL_FRAMES; i++) {
		if (i >= known->nr_read)
			break;
		ip = known->ips[i];
		out->ips[i] = ip;
		difference |= load_word(&live, known->places[i]) ^ ip;
	}
	/* The caller of do_syscall_64() is not read. */
	last = known->nr - 1;
	asm volatile("%0 &= %1" : "+r"(last) : "i"(KNOWN_KERNEL_FRAMES - 1));
	out->ips[last] = known->ips[last];
	return !difference;
}

/* Whether the stack that the walk has begun is the known one; then its frames are in ips. */
static __always_inline bool recognize_kernel(struct known_kernel *known, struct kernel_walk *walk,
					     __u64 *ips)
{
	if (!known->nr || !has_known_frames(walk, known, (struct frame_room *)ips)) {
		known->nr = 0;
		known->misses++;
		return false;
	}
	known->misses = 0;
	walk->recognized = 1;
	walk->frame.hash = known->hash;
	walk->frame.nr = known->nr;
	return true;
}

/* Remembers the walk that has found frames in ips, if it can be compared. */
static __always_inline void remember_kernel(struct known_kernel *known,
					    const struct kernel_walk *walk, const __u64 *ips)
{
	const struct kernel_frame *frame = &walk->frame;

	if (frame->needs & WALK_NEEDS_MORE || frame->nr > KNOWN_KERNEL_FRAMES)
		return;
	known->hash = frame->hash;
	known->nr_read = walk->nr_read;
	known->bytes = frame->sp;
	known->top = frame->needs & WALK_NEEDS_TOP ? walk->top : 0;
	__builtin_memcpy(known->places, walk->places, sizeof(known->places));
	__builtin_memcpy(known->ips, ips, sizeof(known->ips));
	known->nr = frame->nr;
}

/*
 * Whether the known stack has that key. If not, no more than the key is kept of the stack that has
 * it: one that is met once may not be met again.
 */
static __always_inline bool has_key(struct known_kernel *known, __u64 key, __u32 epoch)
{
	if (known->key == key && known->epoch == epoch)
		return true;
	known->key = key;
	known->epoch = epoch;
	known->nr = known->misses = 0;
	return false;
}

/*
 * As walk_kernel_stack() of task, which is current, for programs of which one at a time runs on a
 * CPU: without a copy, where programs may load from a stack, and a stack that was walked twice is
 * recognized from then on. Then walk->recognized is set.
 */
static __always_inline __u32 walk_own_stack(struct kernel_walk *walk, struct task_struct *task,
					    __u64 *ips)
{
	struct known_kernel *known;
	__u32 epoch = orc.epoch, nr;
	bool compares;
	__u64 key;

	walk->recognized = 0;
	if (!has_kernel_loads)
		return walk_kernel_stack(walk, task, ips);
	if (!begin_live_walk(walk, task))
		return 0;
	key = find_key(walk);
	known = known_kernel_of(key);
	if (!known)
		return 0;
	compares = key && has_key(known, key, epoch) && is_worth_it(&known->misses);
	if (compares && recognize_kernel(known, walk, ips))
		return walk->frame.nr;
	nr = walk_live(walk, ips);
	if (compares && nr)
		remember_kernel(known, walk, ips);
	return nr;
}

#endif /* DENET_KNOWN_KERNEL_BPF_H */
