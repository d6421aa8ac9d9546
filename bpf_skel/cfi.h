/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules of frames, for both compilers: how to get from a user frame of x86-64 to its caller's.
 * util/cfi makes them from call frame information; user_walk.bpf.h follows them, and where user
 * space reads a stack, util/cfi/cfi_walk.c.
 *
 * A rule has 24 bits, so that one word holds it together with its key. Nearly all frames find their
 * caller at a distance from rsp or rbp: kind in bits 22-23, words from that register to the CFA in
 * bits 9-21, words from the CFA down to the saved rbp in bits 0-8 (0: rbp is the caller's). The
 * return address lies right below the CFA. Other frames have the number of a struct cfi_wide.
 */
#ifndef DENET_CFI_H
#define DENET_CFI_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum cfi_kind {
	CFI_SPECIAL = 0, /* bits 0-21: enum cfi_special */
	CFI_SP = 1,
	CFI_BP = 2,
	CFI_WIDE = 3, /* bits 0-21: number of a struct cfi_wide */
};

enum cfi_special {
	CFI_NONE = 0,	     /* a file has no call frame information here */
	CFI_OUTERMOST = 1,   /* has no caller */
	CFI_SIGNAL = 2,	     /* returns from a signal handler: a struct ucontext lies at rsp */
	CFI_UNSUPPORTED = 3, /* there is information, but no rule for it */
	CFI_NO_FILE = 4,     /* code that was made at run time, or is of no ELF file */
	CFI_SPECIALS,
};

#define CFI_KIND_SHIFT 22
#define CFI_RULE_MASK 0xffffffU
#define CFI_VALUE_MASK 0x3fffffU
#define CFI_CFA_SHIFT 9
#define CFI_CFA_WORDS 8192 /* more than the distance of any rule */
#define CFI_BP_WORDS 512
#define CFI_BP_FARTHEST 256 /* words: what a walk reads of a stack at once */
#define CFI_RULE(kind, value) ((__u32)(kind) << CFI_KIND_SHIFT | (__u32)(value))
/* The caller's rbp is where rbp points to, and the return address above it. */
#define CFI_FRAME_POINTER CFI_RULE(CFI_BP, 2 << CFI_CFA_SHIFT | 2)

enum cfi_cfa {
	CFI_CFA_REGISTER, /* register + cfa_offset */
	CFI_CFA_DEREF,	  /* the word at register + cfa_offset, + cfa_add */
	CFI_CFA_PLT,	  /* rsp + 8, and 8 more where pc & 15 >= cfa_offset */
};

enum cfi_bp {
	CFI_BP_SAME,
	CFI_BP_AT_CFA, /* saved at CFA + bp_offset */
	CFI_BP_AT_BP,  /* saved at rbp + bp_offset */
	CFI_BP_LOST,
};

enum cfi_ra {
	CFI_RA_AT_CFA,	 /* at CFA + ra_offset */
	CFI_RA_REGISTER, /* in register ra_offset */
};

struct cfi_wide {
	__u8 cfa; /* enum cfi_cfa */
	__u8 reg; /* of the CFA, by its DWARF number */
	__u8 bp;  /* enum cfi_bp */
	__u8 ra;  /* enum cfi_ra */
	__s32 cfa_offset;
	__s32 cfa_add;
	__s32 bp_offset;
	__s32 ra_offset;
};

/*
 * A table: an index with a word for each 256 bytes of the file, then rows. An index word has the
 * number of rows in bits 24-31, and in bits 0-23 where they begin, from the start of the table. The
 * first one holds from the beginning of the 256 bytes, each other one from the byte in its bits
 * 24-31 on. Bits 0-23 of a row are its rule.
 */
#define CFI_PAGE_SHIFT 8
#define CFI_PAGE_SIZE (1U << CFI_PAGE_SHIFT)
#define CFI_PAGE_ROWS 255
#define CFI_TABLE_WORDS (1U << 24) /* more than any table has */

_Static_assert(sizeof(struct cfi_wide) == 20, "struct cfi_wide is not 20 bytes");

#endif /* DENET_CFI_H */
