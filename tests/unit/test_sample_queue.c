/* SPDX-License-Identifier: GPL-2.0-only */
/* Queued samples keep their contents when the memory behind their pointers changes. */
#include "common/harness.h"

#include "callchain/sample_queue.h"

static const uint64_t kernel_ips[] = { 1, 2, 3 };
static const uint64_t user_ips[] = { 4, 5 };

TEST(a_sample_outlives_all_that_it_pointed_to)
{
	uint64_t regs[USER_COPY_REGS] = { [USER_REG_SP] = 77, [USER_REG_PC] = 88 };
	uint64_t kernel[3], user[2];
	char stack[] = "the stack";
	struct reason reason = { .nr = 7, .call = "poll", .path = "/x" };
	struct user_copy copy = { regs, stack, sizeof(stack) };
	struct sample sample = { .time = 9,
				 .kernel = { kernel, 3, true },
				 .user = { user, 2, false },
				 .reason = &reason, .copy = &copy };
	const struct sample *own;
	struct sample_queue held = { 0 };

	memcpy(kernel, kernel_ips, sizeof(kernel));
	memcpy(user, user_ips, sizeof(user));
	ASSERT_EQ(0, sample_queue__add(&held, &sample));
	memset(kernel, 0xff, sizeof(kernel));
	memset(user, 0xff, sizeof(user));
	memset(regs, 0xff, sizeof(regs));
	memset(stack, 0xff, sizeof(stack));
	memset(&reason, 0xff, sizeof(reason));
	memset(&copy, 0xff, sizeof(copy));
	memset(&sample, 0xff, sizeof(sample));
	own = sample_queue__first(&held);
	ASSERT_NE(NULL, own);
	EXPECT_EQ(9, own->time);
	EXPECT_TRUE(own->kernel.truncated);
	ASSERT_EQ(3, own->kernel.nr);
	ASSERT_EQ(2, own->user.nr);
	EXPECT_EQ(0, memcmp(own->kernel.ips, kernel_ips, sizeof(kernel_ips)));
	EXPECT_EQ(0, memcmp(own->user.ips, user_ips, sizeof(user_ips)));
	EXPECT_EQ(7, own->reason->nr);
	EXPECT_STREQ("poll", own->reason->call);
	EXPECT_STREQ("/x", own->reason->path);
	EXPECT_EQ(77, own->copy->regs[USER_REG_SP]);
	EXPECT_EQ(88, own->copy->regs[USER_REG_PC]);
	ASSERT_EQ(sizeof("the stack"), own->copy->nr);
	EXPECT_STREQ("the stack", own->copy->bytes);
	sample_queue__free(&held);
}

TEST(the_first_one_in_is_the_first_one_out_and_bytes_are_counted)
{
	struct sample_queue held = { 0 };

	EXPECT_EQ(NULL, sample_queue__first(&held));
	sample_queue__drop(&held);
	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 5; i++) {
			struct sample sample = { .time = i };

			ASSERT_EQ(0, sample_queue__add(&held, &sample));
		}
		EXPECT_EQ(5, held.nr);
		EXPECT_LE(5 * sizeof(struct sample), held.bytes);
		for (uint64_t i = 0; i < 5; i++) {
			ASSERT_NE(NULL, sample_queue__first(&held));
			EXPECT_EQ(i, sample_queue__first(&held)->time);
			EXPECT_EQ(NULL, sample_queue__first(&held)->copy);
			EXPECT_EQ(NULL, sample_queue__first(&held)->reason);
			sample_queue__drop(&held);
		}
		EXPECT_EQ(0, held.nr);
		EXPECT_EQ(0, held.bytes);
	}
	sample_queue__free(&held);
}

TEST_HARNESS_MAIN
