/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_REGS_H
#define DENET_UNWIND_REGS_H

#include <stdint.h>

#include "user_regs.h"

/* DWARF numbers of some registers. */
enum unwind_reg {
	UNWIND_FP = USER_REG_FP,
	UNWIND_SP = USER_REG_SP,
	UNWIND_PC = USER_REG_PC,
	UNWIND_NR_REGS = USER_NR_REGS,
};

/*
 * User registers of a thread that is in the kernel, in DWARF's order: see user_regs.h.
 */
struct unwind_regs {
	uint64_t r[UNWIND_NR_REGS];
};

#endif /* DENET_UNWIND_REGS_H */
