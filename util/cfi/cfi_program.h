/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_PROGRAM_H
#define DENET_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The programs of call frame information: bytes that say how rules change from one address of a
 * function to the next (DWARF 5, 6.4.2), as far as frame pointer, stack pointer and return address
 * go. Pure functions; any bytes may be given.
 */

enum cfi_how {
	CFI_HOW_UNSET, /* as the ABI has it */
	CFI_HOW_SAME,
	CFI_HOW_UNDEFINED,
	CFI_HOW_SAVED,	  /* at CFA + value */
	CFI_HOW_IS,	  /* CFA + value; of the CFA: register + value */
	CFI_HOW_REGISTER, /* in register value */
	CFI_HOW_SAVED_EXPRESSION,
	CFI_HOW_IS_EXPRESSION,
};

/* Where a register of the caller is. */
struct cfi_where {
	enum cfi_how how;
	int64_t value;
	const uint8_t *expression; /* points into the program */
	size_t size;
};

enum cfi_register {
	CFI_REGISTER_BP,
	CFI_REGISTER_SP,
	CFI_REGISTER_RA,
	CFI_NR_REGISTERS,
};

struct cfi_state {
	struct cfi_where cfa;
	uint64_t cfa_register; /* of CFI_HOW_IS */
	struct cfi_where regs[CFI_NR_REGISTERS];
};

struct cfi_bytes {
	const uint8_t *at;
	const uint8_t *end;
};

/* States that a program can remember at a time. */
#define CFI_MAX_REMEMBERED 16

struct cfi_program {
	struct cfi_bytes code;
	uint64_t code_factor;
	int64_t data_factor;
	const struct cfi_state *initial; /* what DW_CFA_restore goes back to; NULL: there is none */
	struct cfi_state state;
	uint64_t pc; /* from which on the state holds */
	struct cfi_state remembered[CFI_MAX_REMEMBERED];
	size_t nr_remembered;
};

/*
 * Runs a program up to the next address. 1: the state holds from program->pc up to *next; 0: it
 * holds from there up to the function's end; -EINVAL: the program is broken.
 */
int cfi_program__step(struct cfi_program *program, uint64_t *next);

/* Numbers of variable length; of what is cut off, what is there. */
uint64_t cfi_bytes__uleb(struct cfi_bytes *bytes);
int64_t cfi_bytes__sleb(struct cfi_bytes *bytes);

/* An unsigned number of size bytes, at most 8. False: there are not so many. */
bool cfi_bytes__take(struct cfi_bytes *bytes, size_t size, uint64_t *value);

#endif /* DENET_CFI_CFI_PROGRAM_H */
