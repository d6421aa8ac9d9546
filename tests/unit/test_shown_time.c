/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdint.h>

#include <kselftest_harness.h>

#include "report/shown_time.h"

TEST(times_are_short_or_exact)
{
	char buf[SHOWN_TIME_MAX];

	EXPECT_STREQ("1.235 ms", shown_time__format(false, 1234567, buf));
	EXPECT_STREQ("1234567 ns", shown_time__format(true, 1234567, buf));
}

/* The longest of some blocks is at least their mean. */
TEST(the_longest_block_is_known_or_bounded)
{
	char buf[SHOWN_TIME_MAX];

	EXPECT_STREQ("-", shown_time__format_longest(false, 0, 0, buf));
	EXPECT_STREQ("2.000 ms", shown_time__format_longest(false, 2000000, 0, buf));
	EXPECT_STREQ(">=2.000 ms", shown_time__format_longest(false, 2000000, 1000000, buf));
	EXPECT_STREQ(">=3.000 ms", shown_time__format_longest(false, 2000000, 3000000, buf));
	EXPECT_STREQ(">=3 ns", shown_time__format_longest(true, 2, 3, buf));
	EXPECT_STREQ(">=18446744073709551615 ns",
		     shown_time__format_longest(true, 0, UINT64_MAX, buf));
}

TEST_HARNESS_MAIN
