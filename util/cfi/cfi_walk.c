/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_walk.h"

/* Frame pointers farther apart lead nowhere. */
#define FRAME_MAX (1U << 20)
/* No code lies in the first page. */
#define LEAST_CODE 4096
/* In struct ucontext, arch/x86/include/uapi/asm/sigcontext.h: from rbp up to rip. */
#define UCONTEXT_BP 120
#define UCONTEXT_WORDS 7

struct frame {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp;
	bool is_leaf;	 /* all of its registers are known */
	bool is_exact;	 /* it was interrupted: its ip is no return address */
	bool is_guessed; /* it was found along a frame pointer */
};

static bool read_word(const struct cfi_walk *walk, uint64_t address, uint64_t *word)
{
	return walk->read(walk->ctx, address, word, sizeof(*word));
}

/* To the frame of a caller. Steps return false where there is none, or none that can be found. */
static bool go_on(const struct cfi_walk *walk, struct frame *frame, uint64_t cfa, uint64_t ip,
		  uint64_t bp)
{
	*frame = (struct frame){ .ip = ip & walk->mask, .sp = cfa, .bp = bp };
	return frame->ip >= LEAST_CODE;
}

/* By distances from sp or bp. */
static bool step_plainly(const struct cfi_walk *walk, struct frame *frame, uint32_t rule)
{
	uint64_t words = rule & (CFI_BP_WORDS - 1), ip, bp = frame->bp;
	uint64_t cfa = rule >> CFI_KIND_SHIFT == CFI_SP ? frame->sp : frame->bp;

	cfa += (rule >> CFI_CFA_SHIFT & (CFI_CFA_WORDS - 1)) * sizeof(uint64_t);
	/* A stack grows one way. What is read first is lower: it comes in a piece with the rest. */
	if (cfa <= frame->sp || cfa & 7 ||
	    (words && !read_word(walk, cfa - words * sizeof(bp), &bp)) ||
	    !read_word(walk, cfa - sizeof(ip), &ip))
		return false;
	return go_on(walk, frame, cfa, ip, bp);
}

/* Along the frame pointer, if it can be one. */
static bool step_by_pointer(const struct cfi_walk *walk, struct frame *frame)
{
	uint64_t bp = frame->bp, words[2];

	if (bp < frame->sp || bp - frame->sp > FRAME_MAX || bp & 7 ||
	    !walk->read(walk->ctx, bp, words, sizeof(words)) ||
	    (words[1] & walk->mask) < LEAST_CODE)
		return false;
	go_on(walk, frame, bp + sizeof(words), words[1], words[0]);
	frame->is_guessed = true;
	return true;
}

/* The frame that a signal has interrupted. */
static bool step_over_signal(const struct cfi_walk *walk, struct frame *frame)
{
	uint64_t saved[UCONTEXT_WORDS];

	if (!walk->read(walk->ctx, frame->sp + UCONTEXT_BP, saved, sizeof(saved)))
		return false;
	*frame = (struct frame){ .ip = saved[6], .sp = saved[5], .bp = saved[0], .is_exact = true,
				 .is_guessed = frame->is_guessed };
	return true;
}

/* A register by its DWARF number. False: it is that of a callee, and lost. */
static bool get_register(const struct cfi_walk *walk, const struct frame *frame, uint32_t reg,
			 uint64_t *value)
{
	if (reg == USER_REG_SP)
		*value = frame->sp;
	else if (reg == USER_REG_FP)
		*value = frame->bp;
	else if (frame->is_leaf && reg < USER_REG_PC)
		*value = walk->regs[reg];
	else
		return false;
	return true;
}

static bool find_wide_cfa(const struct cfi_walk *walk, const struct frame *frame,
			  const struct cfi_wide *wide, uint64_t *cfa)
{
	uint64_t base, word;

	if (wide->cfa == CFI_CFA_PLT) {
		*cfa = frame->sp + 8 + ((frame->ip & 15) >= (uint32_t)wide->cfa_offset ? 8 : 0);
		return true;
	}
	if (!get_register(walk, frame, wide->reg, &base))
		return false;
	*cfa = base + (uint64_t)(int64_t)wide->cfa_offset;
	if (wide->cfa == CFI_CFA_DEREF) {
		if (!read_word(walk, *cfa, &word))
			return false;
		*cfa = word + (uint64_t)(int64_t)wide->cfa_add;
	}
	/* Where the return address was popped, nothing is left between both. */
	return *cfa > frame->sp || (*cfa == frame->sp && wide->ra == CFI_RA_REGISTER);
}

static bool step_widely(const struct cfi_walk *walk, struct frame *frame,
			const struct cfi_wide *wide)
{
	uint64_t cfa, ip, bp = frame->bp;

	if (!find_wide_cfa(walk, frame, wide, &cfa))
		return false;
	if (wide->ra == CFI_RA_REGISTER) {
		if (!get_register(walk, frame, (uint32_t)wide->ra_offset, &ip))
			return false;
	} else if (!read_word(walk, cfa + (uint64_t)(int64_t)wide->ra_offset, &ip)) {
		return false;
	}
	if (wide->bp == CFI_BP_LOST)
		bp = 0;
	else if (wide->bp != CFI_BP_SAME &&
		 !read_word(walk, (wide->bp == CFI_BP_AT_CFA ? cfa : bp) +
				  (uint64_t)(int64_t)wide->bp_offset, &bp))
		return false;
	return go_on(walk, frame, cfa, ip, bp);
}

static bool step_specially(const struct cfi_walk *walk, struct frame *frame, uint32_t special)
{
	switch (special) {
	case CFI_OUTERMOST:
	case CFI_UNSUPPORTED:
		return false;
	case CFI_SIGNAL:
		return step_over_signal(walk, frame);
	default:
		return step_by_pointer(walk, frame);
	}
}

static bool step(const struct cfi_walk *walk, struct frame *frame, struct cfi_walk_result *result)
{
	uint64_t pc = frame->ip - !frame->is_exact;
	uint32_t rule = CFI_RULE(CFI_SPECIAL, CFI_NO_FILE);
	struct cfi_wide wide;

	if (walk->rule)
		rule = walk->rule(walk->ctx, pc, &wide);
	if (rule == CFI_WALK_NO_CODE) {
		result->no_code = true;
		result->guessed = frame->is_guessed;
		return false;
	}
	if (rule == CFI_WALK_NO_TABLE || rule == CFI_WALK_LATER) {
		result->missing |= rule == CFI_WALK_NO_TABLE;
		result->later |= rule == CFI_WALK_LATER;
		return step_by_pointer(walk, frame);
	}
	switch (rule >> CFI_KIND_SHIFT) {
	case CFI_SPECIAL:
		return step_specially(walk, frame, rule & CFI_VALUE_MASK);
	case CFI_WIDE:
		return step_widely(walk, frame, &wide);
	default:
		return step_plainly(walk, frame, rule);
	}
}

struct cfi_walk_result cfi_walk__run(const struct cfi_walk *walk, uint64_t *ips)
{
	struct frame frame = {
		.ip = walk->regs[USER_REG_PC],
		.sp = walk->regs[USER_REG_SP],
		.bp = walk->regs[USER_REG_FP],
		.is_leaf = true,
		.is_exact = true,
	};
	struct cfi_walk_result result = { 0 };

	do {
		ips[result.nr++] = frame.ip;
	} while (result.nr < walk->max_frames && step(walk, &frame, &result));
	/* An address outside of all code is no frame, unless the thread itself is there. */
	if (result.no_code && result.nr > 1)
		result.nr--;
	return result;
}
