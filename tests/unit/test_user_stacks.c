/* SPDX-License-Identifier: GPL-2.0-only */
/* A copy of a stack finds the block that it was sent for, and no other one. */
#include "common/harness.h"

#include <errno.h>

#include "capture/capture.h"
#include "capture/user_stacks.h"

/* A record as it comes: in a buffer of its own. */
static int keep(struct user_stacks *copies, unsigned int cpu, uint64_t incarnation, uint64_t time)
{
	struct {
		struct wire_copy copy;
		uint64_t stack[2];
	} wire = {
		.copy = { .head = { WIRE_COPY, sizeof(wire) }, .incarnation = incarnation,
			  .time = time },
		.stack = { incarnation, time },
	};
	struct buffer record = { 0 };
	int err;

	if (buffer__append(&record, &wire, sizeof(wire)))
		return -ENOMEM;
	err = user_stacks__keep(copies, cpu, &record);
	buffer__free(&record);
	return err;
}

static struct wire_block make_block(unsigned int cpu, uint64_t incarnation, uint64_t time)
{
	return (struct wire_block){
		.incarnation = incarnation, .time = time, .cpu = cpu, .stack_bytes = 16
	};
}

TEST(copies_of_several_cpus_wait_for_their_own_blocks)
{
	struct user_stacks copies = { 0 };
	struct wire_block block;
	struct user_copy copy;
	uint64_t stack[2];

	ASSERT_EQ(0, keep(&copies, 3, 30, 300));
	ASSERT_EQ(0, keep(&copies, 0, 31, 301));
	ASSERT_EQ(0, keep(&copies, 9, 32, 302));
	block = make_block(3, 30, 300);
	ASSERT_TRUE(user_stacks__find(&copies, &block, &copy));
	ASSERT_EQ(sizeof(stack), copy.nr);
	memcpy(stack, copy.bytes, sizeof(stack));
	EXPECT_EQ(30, stack[0]);
	EXPECT_EQ(300, stack[1]);
	block = make_block(9, 32, 302);
	EXPECT_TRUE(user_stacks__find(&copies, &block, &copy));
	block = make_block(0, 31, 301);
	EXPECT_TRUE(user_stacks__find(&copies, &block, &copy));
	user_stacks__free(&copies);
}

TEST(a_block_gets_no_copy_of_another_one)
{
	struct user_stacks copies = { 0 };
	struct wire_block block = make_block(1, 30, 300);
	struct user_copy copy;

	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	ASSERT_EQ(0, keep(&copies, 1, 30, 300));
	EXPECT_TRUE(user_stacks__find(&copies, &block, &copy));
	block.time++;
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	block = make_block(1, 31, 300);
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	block = make_block(0, 30, 300);
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	block = make_block(2, 30, 300);
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	block = make_block(1, 30, 300);
	block.stack_bytes = 0;
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	/* The next copy of the same CPU takes the place of one whose block got lost. */
	ASSERT_EQ(0, keep(&copies, 1, 40, 400));
	block.stack_bytes = 16;
	EXPECT_FALSE(user_stacks__find(&copies, &block, &copy));
	user_stacks__free(&copies);
}

TEST(what_is_no_copy_is_refused)
{
	struct user_stacks copies = { 0 };
	struct buffer record = { 0 };

	EXPECT_EQ(-EINVAL, user_stacks__keep(&copies, 0, &record));
	EXPECT_EQ(-EINVAL, keep(&copies, CAPTURE_MAX_CPUS, 1, 1));
	EXPECT_EQ(0, keep(&copies, CAPTURE_MAX_CPUS - 1, 1, 1));
	user_stacks__free(&copies);
	user_stacks__free(&copies);
}

TEST_HARNESS_MAIN
