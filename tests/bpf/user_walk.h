/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by user_walk.bpf.c and test_user_walk.c. */
#ifndef DENET_TESTS_USER_WALK_H
#define DENET_TESTS_USER_WALK_H

#include "wire.h"

#define WALKED_COPY (64U << 10)
#define WALKED_TARGETS 4
#define WALKED_CHUNK 4096U

/* A walk, and what it is to be compared with: all of the same moment. */
struct walked {
	__u64 time;
	__u32 pid;
	__s32 end; /* enum user_walk_end */
	__u32 nr;
	__u32 bytes; /* of the stack, from its pointer on */
	__u64 regs[USER_NR_REGS];
	__u64 ips[WIRE_MAX_FRAMES];
	__s32 call; /* the number of the system call; -1: none */
	__u32 reserved;
	char stack[WALKED_COPY];
};

#endif /* DENET_TESTS_USER_WALK_H */
