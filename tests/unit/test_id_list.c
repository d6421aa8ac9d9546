/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include <kselftest_harness.h>

#include "base/id_list.h"

TEST(id_lists_are_sorted_and_name_each_id_once)
{
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__parse(&list, "42,7,42,9"));
	ASSERT_EQ(0, id_list__parse(&list, "8,7"));
	ASSERT_EQ(4, list.nr);
	EXPECT_EQ(7, list.ids[0]);
	EXPECT_EQ(8, list.ids[1]);
	EXPECT_EQ(9, list.ids[2]);
	EXPECT_EQ(42, list.ids[3]);
	id_list__free(&list);
	EXPECT_EQ(0, list.nr);
}

TEST(a_wrong_id_list_is_refused_and_changes_nothing)
{
	static const char *const wrong[] = {
		"", ",", "1,", ",1", "1,,2", "0", "-1", "1 2", "x", "1x", "0x10", " 1",
	};
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__add(&list, 3));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, id_list__parse(&list, wrong[i])) {
			TH_LOG("'%s'", wrong[i]);
		}
	}
	EXPECT_EQ(-EINVAL, id_list__parse(&list, "5,x"));
	EXPECT_EQ(-ERANGE, id_list__parse(&list, "5,4194305"));
	EXPECT_EQ(-ERANGE, id_list__parse(&list, "18446744073709551617"));
	ASSERT_EQ(1, list.nr);
	EXPECT_EQ(3, list.ids[0]);
	id_list__free(&list);
}

TEST(the_largest_pid_that_a_kernel_can_have_is_taken)
{
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__parse(&list, "4194304"));
	EXPECT_EQ(4194304, list.ids[0]);
	id_list__free(&list);
}

TEST_HARNESS_MAIN
