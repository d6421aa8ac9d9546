/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread that has not run has the kernel stack that it had, and no other one has it. */
#include "top/kernel_stacks.h"

#include "common/harness.h"

#define FRAMES 100

static const uint64_t ips[FRAMES] = { 0x1000, 0x2000, 0x3000 };

FIXTURE(stacks)
{
	struct kernel_stacks stacks;
	struct thread_sample whole; /* with frames */
	struct thread_sample same;
};

FIXTURE_SETUP(stacks)
{
	self->stacks = (struct kernel_stacks){ 0 };
	self->whole = (struct thread_sample){ .tid = 7, .start = 1, .switches = 5,
					      .kernel = { .ips = ips, .nr = FRAMES } };
	self->whole.kernel_id = thread_sample__hash(&self->whole.kernel);
	self->same = (struct thread_sample){ .tid = 7, .start = 1, .switches = 5,
					     .same_kernel = true };
	kernel_stacks__begin(&self->stacks);
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &self->whole));
}

FIXTURE_TEARDOWN(stacks)
{
	kernel_stacks__free(&self->stacks);
}

TEST_F(stacks, the_same_is_filled_in)
{
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &self->same));
	ASSERT_EQ(FRAMES, self->same.kernel.nr);
	EXPECT_EQ(0x3000, self->same.kernel.ips[2]);
	EXPECT_EQ(self->whole.kernel_id, self->same.kernel_id);
}

TEST_F(stacks, others_have_none)
{
	struct thread_sample other = self->same;

	other.switches++;
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &other));
	EXPECT_EQ(0, other.kernel.nr);
	other = self->same;
	other.start++;
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &other));
	EXPECT_EQ(0, other.kernel.nr);
	/* In this look, no stack was taken. */
	self->same.same_kernel = false;
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &self->same));
	EXPECT_EQ(0, self->same.kernel_id);
}

TEST_F(stacks, memory_is_bounded)
{
	uint32_t generation = kernel_stacks__begin(&self->stacks);

	/* What was written in passes before is of no generation. */
	EXPECT_NE(0, generation);
	for (int i = 0; i < 100000; i++) {
		self->whole.switches++;
		ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &self->whole));
		kernel_stacks__begin(&self->stacks);
		ASSERT_GT(17UL << 20, self->stacks.frames.len);
	}
	EXPECT_LT(generation, kernel_stacks__begin(&self->stacks));
	ASSERT_EQ(0, kernel_stacks__take(&self->stacks, &self->same));
	EXPECT_EQ(0, self->same.kernel.nr);
}

TEST_HARNESS_MAIN
