/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_WALK_H
#define DENET_CFI_CFI_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi.h"
#include "user_regs.h"

/*
 * Walks a user stack by the rules of bpf_skel/cfi.h, as bpf_skel/user_walk.bpf.h does in the
 * kernel: for stacks that are read from user space. Where code has no rule, or the machine no
 * tables, the walk goes along the frame pointer.
 */

/* Results of rule beside those of cfi.h. */
#define CFI_WALK_NO_CODE 0xffffffffU /* nothing is mapped there, or data */
#define CFI_WALK_NO_TABLE 0xfffffffeU /* the table of the file is yet to be made, */
#define CFI_WALK_LATER 0xfffffffdU /* or will be tried once more, later */

struct cfi_walk {
	const uint64_t *regs; /* USER_NR_REGS, see bpf_skel/user_regs.h */
	uint64_t mask;	      /* of return addresses, see user_address__mask() */
	uint32_t max_frames;
	/* Reads memory of the process. False: it cannot be read. */
	bool (*read)(void *ctx, uint64_t address, void *to, size_t size);
	/*
	 * The rule of an address, and with CFI_WIDE *wide; or one of the above. NULL: there are
	 * frame pointers only.
	 */
	uint32_t (*rule)(void *ctx, uint64_t pc, struct cfi_wide *wide);
	void *ctx;
};

struct cfi_walk_result {
	uint32_t nr;	  /* of frames, 1 at least */
	bool no_code; /* the next address was in no code, and is left out unless it is the leaf; */
	bool guessed; /* it was found along a frame pointer, which may be none */
	/* A rule was, and the walk went along the frame pointer in its place: */
	bool missing; /* for CFI_WALK_NO_TABLE, */
	bool later;   /* for CFI_WALK_LATER */
};

/* Walks into ips, which has room for max_frames, the leaf first. */
struct cfi_walk_result cfi_walk__run(const struct cfi_walk *walk, uint64_t *ips);

#endif /* DENET_CFI_CFI_WALK_H */
