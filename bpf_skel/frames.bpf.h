/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User frames by frame pointers, as bpf_get_stack() finds them, in a tenth of its time. The
 * kernel reads two words for each frame, and each such read costs as much as half a kilobyte
 * read at once; the frames of a stack lie close together.
 */
#ifndef DENET_FRAMES_BPF_H
#define DENET_FRAMES_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"

#define USER_CS_64 0x33 /* arch/x86/include/asm/segment.h: __USER_CS */
/* Kernel threads of a process: their user registers are not those of a caller. */
#define PF_IO_WORKER 0x10U
#define PF_USER_WORKER 0x4000U

/* Words of struct pt_regs. */
#define REGS_BP 4U
#define REGS_CALL 15U
#define REGS_IP 16U
#define REGS_CS 17U
#define REGS_SP 19U
#define REGS_WORDS 21U

#define USER_PAGE 4096U
#define PIECE_WORDS 126U
#define FRAME_BYTES 16U /* the caller's frame pointer, the return address */

/* Set by user space on x86-64, if the registers are available. */
const volatile __u8 quick_frames = 0;

struct frame_room {
	__u64 ips[WIRE_MAX_FRAMES];
};

/* Where the hash over a side of a stack begins. */
#define FRAMES_SEED_KERNEL 1ULL
#define FRAMES_SEED_USER 2ULL

/* The hash over frames, with one more. */
static __always_inline __u64 hash_frame(__u64 hash, __u64 ip)
{
	hash = (hash ^ ip) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* One side of a stack that was walked. */
struct walked_side {
	__u64 hash;  /* over its frames; 0: unknown */
	__u32 nr;    /* of its frames */
	__u32 known; /* 1 and the place of the known stack that has them; 0: they are there */
};

/* A piece ends with its page, so that it is readable if its first frame is. */
static __always_inline __u64 piece_bytes(__u64 fp)
{
	__u64 left = USER_PAGE - (fp & (USER_PAGE - 1));

	if (left < FRAME_BYTES)
		return FRAME_BYTES;
	return left < PIECE_WORDS * sizeof(__u64) ? left : PIECE_WORDS * sizeof(__u64);
}

/*
 * Follows the chain that begins at fp; out has one frame already, and gets at most max in all.
 * Returns their number, and the hash over them in side. A broken chain may hold any address: each
 * is read as it is, as the kernel does, and the chain ends where that fails. A global function for
 * the verifier's sake.
 */
__noinline __u32 follow_frames(struct frame_room *out, struct frame_room *piece, __u64 fp,
			       __u32 max, struct walked_side *side)
{
	__u64 base = 0, bytes = 0, at, ip, hash;
	__u32 nr = 1;

	if (!out || !piece || !side)
		return 0;
	hash = hash_frame(FRAMES_SEED_USER, out->ips[0]);
	for (; nr < WIRE_MAX_FRAMES; nr++) {
		/* The outermost frame has 0; a failed read costs most of all. */
		if (nr >= max || fp < USER_PAGE)
			break;
		at = fp - base;
		if (at + FRAME_BYTES > bytes || at > bytes || at & 7) {
			bytes = piece_bytes(fp);
			base = fp;
			at = 0;
			asm volatile("" : "+r"(bytes));
			if (bytes > PIECE_WORDS * sizeof(__u64) ||
			    bpf_probe_read_user(piece, (__u32)bytes, (const void *)fp))
				break;
		}
		at /= sizeof(__u64);
		/* Explicit for the verifier; clang would leave it out. */
		asm volatile("" : "+r"(at));
		if (at > PIECE_WORDS - 2)
			break;
		ip = piece->ips[at + 1];
		fp = piece->ips[at];
		out->ips[nr] = ip;
		hash = hash_frame(hash, ip);
	}
	side->hash = hash;
	side->nr = nr;
	return nr;
}

#ifdef __TARGET_ARCH_arm64
/* Left to the kernel's walk, which knows the bits of a signed return address. */
static __always_inline __u32 walk_user_frames(struct task_struct *task, __u64 *ips,
					      struct frame_room *piece, __u32 max,
					      struct walked_side *side)
{
	return 0;
}
#else
/*
 * Walks the user stack of task, which is current, into ips, at most max frames; piece is room of
 * this CPU that is not in use. Returns the number of frames, and in *side it and their hash; 0:
 * this walk cannot.
 */
static __always_inline __u32 walk_user_frames(struct task_struct *task, __u64 *ips,
					      struct frame_room *piece, __u32 max,
					      struct walked_side *side)
{
	struct pt_regs *regs;

	/* A task that waits in its exit may have no memory any more, and then has no frames. */
	if (!quick_frames || !task->mm || task->flags & (PF_IO_WORKER | PF_USER_WORKER))
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	/* 32-bit programs have other frames. */
	if (!regs || regs->cs != USER_CS_64)
		return 0;
	ips[0] = regs->ip;
	return follow_frames((struct frame_room *)ips, piece, regs->bp, max, side);
}

#endif

#endif /* DENET_FRAMES_BPF_H */
