/* SPDX-License-Identifier: GPL-2.0-only */
/* Chains decide whether a process has frame pointers, once there are enough of them. */
#include "common/harness.h"

#include "callchain/fp_quality.h"

static const uint64_t ips[] = { 1, 2, 3, 4, 5 };

static int add(struct evidence *evidence, pid_t pid, uint32_t nr, size_t kept)
{
	const struct frames user = { ips, nr, false };

	return evidence__add(evidence, pid, &user, kept, 1);
}

TEST(short_chains_and_garbage_decide_and_whole_ones_do_not)
{
	struct evidence evidence = { 0 };

	for (int i = 0; i < 100; i++)
		EXPECT_EQ(0, add(&evidence, 1, 5, 5));
	for (int i = 1; i < EVIDENCE_ENOUGH; i++) {
		EXPECT_EQ(0, add(&evidence, 2, 1, 1));
		EXPECT_EQ(0, add(&evidence, 3, 5, 4));
		EXPECT_EQ(0, add(&evidence, 4, EVIDENCE_SHORT + 1, EVIDENCE_SHORT + 1));
	}
	EXPECT_EQ(1, add(&evidence, 2, 1, 1));
	EXPECT_EQ(1, add(&evidence, 3, 5, 4));
	EXPECT_EQ(0, add(&evidence, 4, EVIDENCE_SHORT + 1, EVIDENCE_SHORT + 1));
	EXPECT_FALSE(evidence__decided(&evidence, 1));
	EXPECT_TRUE(evidence__decided(&evidence, 2));
	EXPECT_TRUE(evidence__decided(&evidence, 3));
	EXPECT_FALSE(evidence__decided(&evidence, 4));
	/* Said once. */
	EXPECT_EQ(0, add(&evidence, 2, 1, 1));
	evidence__free(&evidence);
}

TEST(half_of_the_chains_must_be_broken)
{
	struct evidence evidence = { 0 };

	for (int i = 0; i < 1000; i++)
		EXPECT_EQ(0, add(&evidence, 1, i % 3 ? 5 : 1, i % 3 ? 5 : 1));
	/* Much whole of long ago is no proof for ever. */
	for (int i = 0; i < 100000 && !evidence__decided(&evidence, 1); i++)
		add(&evidence, 1, 1, 1);
	EXPECT_TRUE(evidence__decided(&evidence, 1));
	evidence__free(&evidence);
}

TEST(a_sum_counts_for_its_blocks_but_not_for_all_of_a_program)
{
	const struct frames whole = { ips, 5, false }, broken = { ips, 1, false };
	struct evidence evidence = { 0 };

	EXPECT_EQ(1, evidence__add(&evidence, 1, &broken, 1, EVIDENCE_ENOUGH));
	EXPECT_EQ(0, evidence__add(&evidence, 2, &whole, 5, UINT64_MAX));
	EXPECT_EQ(1, evidence__add(&evidence, 2, &broken, 1, UINT64_MAX));
	evidence__free(&evidence);
}

TEST(a_fork_is_what_its_parent_is_and_an_exec_is_not)
{
	struct evidence evidence = { 0 };

	EXPECT_FALSE(evidence__fork(&evidence, 2, 1));
	for (int i = 0; i < EVIDENCE_ENOUGH; i++)
		add(&evidence, 1, 1, 1);
	EXPECT_TRUE(evidence__fork(&evidence, 2, 1));
	EXPECT_TRUE(evidence__decided(&evidence, 2));
	EXPECT_TRUE(evidence__forget(&evidence, 2));
	EXPECT_FALSE(evidence__decided(&evidence, 2));
	EXPECT_FALSE(evidence__forget(&evidence, 2));
	EXPECT_TRUE(evidence__decided(&evidence, 1));
	evidence__free(&evidence);
}

TEST_HARNESS_MAIN
