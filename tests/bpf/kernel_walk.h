/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by kernel_walk.bpf.c and test_kernel_walk.c. */
#ifndef DENET_TESTS_KERNEL_WALK_H
#define DENET_TESTS_KERNEL_WALK_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define KEPT_WALKS 8
#define KEPT_FRAMES 64

/* A stack that the two walks saw differently, or that ours left to the kernel's. */
struct kept_walk {
	__u32 nr_ours;
	__u32 nr_kernel;
	char comm[16];
	__u64 ours[KEPT_FRAMES];
	__u64 kernels[KEPT_FRAMES];
	__u64 words[KEPT_FRAMES]; /* of the stack, from where our walk began */
};

struct walk_counts {
	__u64 same;
	__u64 differ;
	__u64 left;	  /* to the kernel's walk */
	__u64 newborn;	  /* the same: the task had never run, and has no frame to begin with */
	__u64 none;	  /* the kernel's walk found nothing either */
	__u64 recognized; /* of the same: walked before */
	__u64 in_modules; /* of the same: with a frame outside of vmlinux */
	/* Of tasks that run again, where both walks found frames: */
	__u64 timed;
	__u64 ours_ns; /* with a reading of the clock for each walk */
	__u64 kernels_ns;
	__u64 clock_ns; /* as many readings of the clock */
};

#endif /* DENET_TESTS_KERNEL_WALK_H */
