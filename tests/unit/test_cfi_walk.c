/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks by given rules over given memory: each step, and what may be wrong with either. */
#include "cfi/cfi_walk.h"

#include <string.h>

#include "common/harness.h"

#define STACK 0x7000
#define WORDS 64
#define CODE 0x400000
#define FRAMES 8

#define SP_RULE(cfa_words, bp_words) CFI_RULE(CFI_SP, (cfa_words) << CFI_CFA_SHIFT | (bp_words))
#define BP_RULE(cfa_words, bp_words) CFI_RULE(CFI_BP, (cfa_words) << CFI_CFA_SHIFT | (bp_words))
#define SPECIAL(special) CFI_RULE(CFI_SPECIAL, special)

/* Function number n lies from CODE + n * 256 on, and has rule n. */
FIXTURE(walk)
{
	uint64_t regs[USER_NR_REGS];
	uint64_t stack[WORDS];
	uint32_t rules[8];
	struct cfi_wide wide;
	uint64_t ips[FRAMES];
	struct cfi_walk walk;
	struct cfi_walk_result result;
};

typedef FIXTURE_DATA(walk) data;

static bool read_stack(void *ctx, uint64_t address, void *to, size_t size)
{
	const data *self = ctx;

	if (address < STACK || address - STACK > sizeof(self->stack) ||
	    sizeof(self->stack) - (address - STACK) < size)
		return false;
	memcpy(to, (const char *)self->stack + (address - STACK), size);
	return true;
}

static uint32_t find_rule(void *ctx, uint64_t pc, struct cfi_wide *wide)
{
	const data *self = ctx;
	uint64_t nr = (pc - CODE) / 256;

	*wide = self->wide;
	return nr < sizeof(self->rules) / sizeof(self->rules[0]) ? self->rules[nr]
								 : CFI_WALK_NO_CODE;
}

static uint64_t in_function(int nr)
{
	return CODE + (uint64_t)nr * 256 + 16;
}

FIXTURE_SETUP(walk)
{
	self->walk = (struct cfi_walk){ .regs = self->regs, .mask = ~0ULL, .max_frames = FRAMES,
					.read = read_stack, .rule = find_rule, .ctx = self };
	self->regs[USER_REG_PC] = in_function(0);
	self->regs[USER_REG_SP] = STACK;
	/* Callers are outermost frames, unless a test gives them another rule. */
	for (int i = 1; i < 8; i++)
		self->rules[i] = SPECIAL(CFI_OUTERMOST);
}

FIXTURE_TEARDOWN(walk)
{
}

static uint32_t run(data *self)
{
	self->result = cfi_walk__run(&self->walk, self->ips);
	return self->result.nr;
}

TEST_F(walk, by_distances_from_the_stack_pointer_and_the_frame_pointer)
{
	self->rules[0] = SP_RULE(4, 2);
	self->stack[2] = STACK + 8 * 10; /* the caller's frame pointer */
	self->stack[3] = in_function(1);
	self->rules[1] = BP_RULE(2, 2);
	self->stack[11] = in_function(2);
	ASSERT_EQ(3, run(self));
	EXPECT_EQ(in_function(1), self->ips[1]);
	EXPECT_EQ(in_function(2), self->ips[2]);
	EXPECT_FALSE(self->result.no_code || self->result.missing || self->result.later);
}

TEST_F(walk, a_stack_that_does_not_rise_ends_it)
{
	self->rules[0] = BP_RULE(2, 2);
	self->regs[USER_REG_FP] = STACK - 16; /* the CFA is the stack pointer */
	EXPECT_EQ(1, run(self));
	self->regs[USER_REG_FP] = ~0ULL - 7; /* it is the lowest address of all */
	EXPECT_EQ(1, run(self));
	self->rules[0] = SP_RULE(CFI_CFA_WORDS - 1, 0);
	EXPECT_EQ(1, run(self));
}

TEST_F(walk, not_more_frames_than_there_is_room_for)
{
	self->rules[0] = SP_RULE(1, 0);
	for (int i = 0; i < WORDS; i++)
		self->stack[i] = in_function(0);
	EXPECT_EQ(FRAMES, run(self));
}

TEST_F(walk, code_without_a_rule_is_left_by_its_frame_pointer)
{
	const uint32_t without[] = { SPECIAL(CFI_NONE), SPECIAL(CFI_NO_FILE), CFI_WALK_NO_TABLE,
				     CFI_WALK_LATER };

	self->regs[USER_REG_FP] = STACK + 32;
	self->stack[5] = in_function(1);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		self->rules[0] = without[i];
		EXPECT_EQ(2, run(self));
		EXPECT_EQ(without[i] == CFI_WALK_NO_TABLE, self->result.missing);
		EXPECT_EQ(without[i] == CFI_WALK_LATER, self->result.later);
	}
	self->rules[0] = SPECIAL(CFI_UNSUPPORTED);
	EXPECT_EQ(1, run(self));
	self->walk.rule = NULL;
	EXPECT_EQ(2, run(self));
	/* No frame pointer: below the stack, odd, far away, or to what is not in memory. */
	self->regs[USER_REG_FP] = STACK - 8;
	EXPECT_EQ(1, run(self));
	self->regs[USER_REG_FP] = STACK + 33;
	EXPECT_EQ(1, run(self));
	self->regs[USER_REG_FP] = STACK + (8 << 20);
	EXPECT_EQ(1, run(self));
	self->regs[USER_REG_FP] = STACK + sizeof(self->stack);
	EXPECT_EQ(1, run(self));
}

TEST_F(walk, what_is_no_code_is_left_out)
{
	self->rules[0] = SP_RULE(1, 0);
	self->stack[0] = 0x12345678;
	EXPECT_EQ(1, run(self));
	EXPECT_TRUE(self->result.no_code);
	EXPECT_FALSE(self->result.guessed);
	self->rules[0] = SPECIAL(CFI_NO_FILE);
	self->regs[USER_REG_FP] = STACK + 32;
	self->stack[5] = 0x12345678;
	EXPECT_EQ(1, run(self));
	EXPECT_TRUE(self->result.no_code);
	EXPECT_TRUE(self->result.guessed);
	/* But the leaf: a thread is where it is. */
	self->regs[USER_REG_PC] = 1;
	EXPECT_EQ(1, run(self));
	EXPECT_TRUE(self->result.no_code);
	EXPECT_FALSE(self->result.guessed);
}

TEST_F(walk, a_signal_handler)
{
	self->rules[0] = SPECIAL(CFI_SIGNAL);
	/* rbp, rsp and rip of the struct ucontext at the top of the stack. */
	self->stack[15] = STACK + 8 * 40;
	self->stack[20] = STACK + 8 * 30;
	self->stack[21] = in_function(1);
	self->rules[1] = SP_RULE(1, 0);
	self->stack[30] = in_function(2);
	self->rules[2] = BP_RULE(2, 2);
	self->stack[41] = in_function(3);
	ASSERT_EQ(4, run(self));
	EXPECT_EQ(in_function(3), self->ips[3]);
	/* A signal at the first byte of function 1: its rule applies, not that of function 0. */
	self->stack[21] = CODE + 256;
	ASSERT_EQ(4, run(self));
	EXPECT_EQ(CODE + 256, self->ips[1]);
	EXPECT_EQ(in_function(3), self->ips[3]);
}

TEST_F(walk, wide_rules)
{
	self->rules[0] = CFI_RULE(CFI_WIDE, 0);
	/* A PLT, before and behind its push. */
	self->wide = (struct cfi_wide){ .cfa = CFI_CFA_PLT, .cfa_offset = 11, .ra_offset = -8 };
	self->stack[0] = in_function(1);
	self->stack[1] = in_function(2);
	ASSERT_EQ(2, run(self));
	EXPECT_EQ(in_function(1), self->ips[1]);
	self->regs[USER_REG_PC] = CODE + 12;
	ASSERT_EQ(2, run(self));
	EXPECT_EQ(in_function(2), self->ips[1]);
	/* The CFA in memory, at another register that is known in the leaf. */
	self->wide = (struct cfi_wide){ .cfa = CFI_CFA_DEREF, .reg = 10, .cfa_offset = -8,
					.cfa_add = 16, .bp = CFI_BP_AT_CFA, .bp_offset = -16,
					.ra_offset = -8 };
	self->regs[10] = STACK + 8 * 5;
	self->stack[4] = STACK + 8 * 6;
	self->stack[7] = in_function(3);
	ASSERT_EQ(2, run(self));
	EXPECT_EQ(in_function(3), self->ips[1]);
	/* A return address in a register: all of the frame is gone. */
	self->wide = (struct cfi_wide){ .reg = USER_REG_SP, .ra = CFI_RA_REGISTER, .ra_offset = 5 };
	self->regs[5] = in_function(4);
	ASSERT_EQ(2, run(self));
	EXPECT_EQ(in_function(4), self->ips[1]);
	/* There, that register is lost. */
	self->rules[4] = self->rules[0];
	EXPECT_EQ(2, run(self));
}

TEST_F(walk, wide_rules_that_are_broken)
{
	struct cfi_wide broken[] = {
		{ .reg = 200, .cfa_offset = 8 },
		{ .reg = USER_REG_SP, .cfa_offset = 8, .ra = CFI_RA_REGISTER, .ra_offset = -1 },
		{ .reg = USER_REG_SP, .cfa_offset = INT32_MAX, .ra_offset = -8 },
		{ .reg = USER_REG_SP, .cfa_offset = INT32_MIN, .ra_offset = -8 },
		{ .reg = USER_REG_SP, .cfa_offset = 8, .ra_offset = INT32_MIN },
		{ .cfa = CFI_CFA_DEREF, .reg = USER_REG_SP, .cfa_offset = INT32_MIN },
		{ .reg = USER_REG_SP, .cfa_offset = 8, .ra_offset = -8, .bp = CFI_BP_AT_BP,
		  .bp_offset = 8 },
	};

	self->rules[0] = CFI_RULE(CFI_WIDE, 0);
	self->stack[0] = in_function(1);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		self->wide = broken[i];
		EXPECT_EQ(1, run(self));
	}
}

TEST_HARNESS_MAIN
