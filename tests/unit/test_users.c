/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>

#include <kselftest_harness.h>

#include "session/users.h"

TEST(names_and_numbers_are_users_and_each_counts_once)
{
	struct id_list uids = { 0 };

	ASSERT_EQ(0, users__resolve(&uids, "root,0,54321"));
	ASSERT_EQ(2, uids.nr);
	EXPECT_EQ(0, uids.ids[0]);
	EXPECT_EQ(54321, uids.ids[1]);
	id_list__free(&uids);
}

TEST(the_largest_user_id_fits_and_the_one_beyond_is_no_user)
{
	struct id_list uids = { 0 };

	ASSERT_EQ(0, users__resolve(&uids, "4294967294"));
	ASSERT_EQ(1, uids.nr);
	EXPECT_EQ(UINT32_MAX - 1, ((const uint32_t *)uids.ids)[0]);
	EXPECT_EQ(-ENOENT, users__resolve(&uids, "4294967295"));
	id_list__free(&uids);
}

TEST(who_is_no_user_is_refused)
{
	struct id_list uids = { 0 };

	EXPECT_EQ(-ENOENT, users__resolve(&uids, "denet-no-such-user"));
	EXPECT_EQ(-ENOENT, users__resolve(&uids, "-1"));
	EXPECT_EQ(-EINVAL, users__resolve(&uids, ""));
	EXPECT_EQ(-EINVAL, users__resolve(&uids, "root,"));
	id_list__free(&uids);
}

TEST_HARNESS_MAIN
