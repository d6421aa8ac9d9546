/* SPDX-License-Identifier: GPL-2.0-only */
#include <kselftest_harness.h>

#include "unwind/blame.h"

#define LATER (BLAME_DECAY_NS + 1)

TEST(a_file_is_left_alone_after_three_deaths_or_one_that_is_its_own_and_comes_back)
{
	struct blame blame = { 0 };
	uint64_t files[BLAME_FILES];

	blame__add(&blame, 1, 7, 0, false);
	blame__add(&blame, 2, 7, 0, false);
	EXPECT_EQ(0U, blame__files(&blame, 3, files));
	blame__add(&blame, 3, 7, 0, false);
	blame__add(&blame, 3, 8, 0, true);
	ASSERT_EQ(2U, blame__files(&blame, 4, files));
	EXPECT_EQ(7U, files[0]);
	EXPECT_EQ(8U, files[1]);
	EXPECT_EQ(0U, blame__files(&blame, 3 + LATER, files));
	/* And what it did before is forgotten. */
	blame__add(&blame, 4 + LATER, 7, 0, false);
	EXPECT_EQ(0U, blame__files(&blame, 5 + LATER, files));
}

TEST(a_user_with_ever_new_files_is_left_alone_and_root_is_not)
{
	struct blame blame = { 0 };

	for (uint64_t i = 1; i <= 4; i++) {
		EXPECT_FALSE(blame__any_user(&blame, i));
		blame__add(&blame, i, 100 + i, 1000, true);
		blame__add(&blame, i, 200 + i, 0, true);
		blame__add(&blame, i, 300 + i, UINT32_MAX, true);
	}
	EXPECT_TRUE(blame__any_user(&blame, 5));
	EXPECT_TRUE(blame__is_left_alone(&blame, 5, 1000));
	EXPECT_FALSE(blame__is_left_alone(&blame, 5, 0));
	EXPECT_FALSE(blame__is_left_alone(&blame, 5, 1001));
	EXPECT_FALSE(blame__is_left_alone(&blame, 5, UINT32_MAX));
	EXPECT_FALSE(blame__any_user(&blame, 4 + LATER));
}

TEST(failures_are_paid_back_by_time)
{
	struct blame blame = { 0 };

	for (int i = 0; i < BLAME_BURST; i++) {
		EXPECT_TRUE(blame__may_go_on(&blame, 1));
		blame__add(&blame, 1, 0, 0, false);
	}
	EXPECT_FALSE(blame__may_go_on(&blame, 2));
	EXPECT_TRUE(blame__may_go_on(&blame, 2 + BLAME_REFILL_NS));
	blame__add(&blame, 2 + BLAME_REFILL_NS, 0, 0, false);
	EXPECT_FALSE(blame__may_go_on(&blame, 3 + BLAME_REFILL_NS));
	/* All of them, one after the other. */
	for (int i = 0; i < BLAME_BURST; i++) {
		EXPECT_TRUE(blame__may_go_on(&blame, 1 + LATER));
		blame__add(&blame, 1 + LATER, 0, 0, false);
	}
	EXPECT_FALSE(blame__may_go_on(&blame, 1 + LATER));
}

TEST(more_files_than_there_is_room_for_push_out_the_oldest)
{
	struct blame blame = { 0 };
	uint64_t files[BLAME_FILES];

	for (uint64_t i = 1; i <= 3 * BLAME_FILES; i++)
		blame__add(&blame, i, i, 0, true);
	ASSERT_EQ(BLAME_FILES, blame__files(&blame, 3 * BLAME_FILES, files));
	for (size_t i = 0; i < BLAME_FILES; i++)
		EXPECT_LT(2 * BLAME_FILES, files[i]);
}

TEST_HARNESS_MAIN
