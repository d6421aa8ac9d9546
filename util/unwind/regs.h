/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_REGS_H
#define DENET_UNWIND_REGS_H

#include <stdint.h>

/* Where some of the registers are, by the numbers that DWARF gives them on x86-64. */
enum unwind_reg {
	UNWIND_RBP = 6,
	UNWIND_RSP = 7,
	UNWIND_RIP = 16,
	UNWIND_NR_REGS = 17,
};

/*
 * User registers of a thread that is in the kernel, in DWARF's order for x86-64: rax, rdx,
 * rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
 */
struct unwind_regs {
	uint64_t r[UNWIND_NR_REGS];
};

#endif /* DENET_UNWIND_REGS_H */
