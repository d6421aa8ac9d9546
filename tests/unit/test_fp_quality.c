/* SPDX-License-Identifier: GPL-2.0-only */
/* Chains decide whether a process has frame pointers, once there are enough of them. */
#include "common/harness.h"

#include "callchain/fp_quality.h"

static const uint64_t ips[] = { 1, 2, 3, 4, 5 };

static bool add(uint64_t *quality, uint32_t nr, size_t kept)
{
	const struct frames user = { ips, nr, false };

	return fp_quality__add(quality, &user, kept, 1);
}

TEST(short_chains_and_garbage_decide_and_whole_ones_do_not)
{
	uint64_t quality[5] = { 0 };

	for (int i = 0; i < 100; i++)
		EXPECT_EQ(0, add(&quality[1], 5, 5));
	for (int i = 1; i < FP_QUALITY_ENOUGH; i++) {
		EXPECT_EQ(0, add(&quality[2], 1, 1));
		EXPECT_EQ(0, add(&quality[3], 5, 4));
		EXPECT_EQ(0, add(&quality[4], FP_QUALITY_SHORT + 1, FP_QUALITY_SHORT + 1));
	}
	EXPECT_EQ(1, add(&quality[2], 1, 1));
	EXPECT_EQ(1, add(&quality[3], 5, 4));
	EXPECT_EQ(0, add(&quality[4], FP_QUALITY_SHORT + 1, FP_QUALITY_SHORT + 1));
	EXPECT_FALSE(fp_quality__is_bad(quality[1]));
	EXPECT_TRUE(fp_quality__is_bad(quality[2]));
	EXPECT_TRUE(fp_quality__is_bad(quality[3]));
	EXPECT_FALSE(fp_quality__is_bad(quality[4]));
	/* Reported once. */
	EXPECT_EQ(0, add(&quality[2], 1, 1));
}

TEST(half_of_the_chains_must_be_broken)
{
	uint64_t quality[5] = { 0 };

	for (int i = 0; i < 1000; i++)
		EXPECT_EQ(0, add(&quality[1], i % 3 ? 5 : 1, i % 3 ? 5 : 1));
	/* Many good chains of long ago do not count for ever. */
	for (int i = 0; i < 100000 && !fp_quality__is_bad(quality[1]); i++)
		add(&quality[1], 1, 1);
	EXPECT_TRUE(fp_quality__is_bad(quality[1]));
}

TEST(a_sum_counts_for_its_blocks_but_not_for_all_of_a_program)
{
	const struct frames whole = { ips, 5, false }, broken = { ips, 1, false };
	uint64_t quality[5] = { 0 };

	EXPECT_EQ(1, fp_quality__add(&quality[1], &broken, 1, FP_QUALITY_ENOUGH));
	EXPECT_EQ(0, fp_quality__add(&quality[2], &whole, 5, UINT64_MAX));
	EXPECT_EQ(1, fp_quality__add(&quality[2], &broken, 1, UINT64_MAX));
}

TEST(a_child_is_what_was_decided_of_its_parent)
{
	uint64_t quality = 0;

	for (int i = 1; i < FP_QUALITY_ENOUGH; i++)
		add(&quality, 1, 1);
	EXPECT_EQ(0, fp_quality__of_child(quality));
	add(&quality, 1, 1);
	EXPECT_TRUE(fp_quality__is_bad(fp_quality__of_child(quality)));
}

TEST(a_chain_of_two_frames_may_be_whole_and_one_of_one_or_with_garbage_is_not)
{
	const struct frames one = { ips, 1, false }, two = { ips, 2, false };

	EXPECT_TRUE(fp_quality__is_cut(&one, 1));
	EXPECT_TRUE(fp_quality__is_cut(&two, 1));
	EXPECT_FALSE(fp_quality__is_cut(&two, 2));
}

TEST_HARNESS_MAIN
