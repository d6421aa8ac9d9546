/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include <kselftest_harness.h>

#include "host/cpus.h"

TEST(lists_of_cpus_and_ranges_add_up)
{
	struct cpus cpus = { 0 };
	unsigned int nr = 0;

	ASSERT_EQ(0, cpus__parse(&cpus, "0-2,5,64"));
	ASSERT_EQ(0, cpus__parse(&cpus, "8191,5"));
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		nr += cpus__has(&cpus, cpu);
	EXPECT_EQ(6, nr);
	EXPECT_TRUE(cpus__has(&cpus, 0) && cpus__has(&cpus, 1) && cpus__has(&cpus, 2));
	EXPECT_TRUE(cpus__has(&cpus, 5) && cpus__has(&cpus, 64) && cpus__has(&cpus, 8191));
	EXPECT_FALSE(cpus__has(&cpus, 8192));
}

TEST(what_is_no_list_is_refused_and_changes_nothing)
{
	static const char *const wrong[] = {
		"", ",", "1,", ",1", "-", "1-", "-1", "1-2-3", "x", "0x1", "1 2", "all",
	};
	struct cpus cpus = { 0 }, empty = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, cpus__parse(&cpus, wrong[i]))
		{
			TH_LOG("'%s'", wrong[i]);
		}
	}
	EXPECT_EQ(-ERANGE, cpus__parse(&cpus, "3-1"));
	EXPECT_EQ(-ERANGE, cpus__parse(&cpus, "8192"));
	EXPECT_EQ(-ERANGE, cpus__parse(&cpus, "0-99999999999999999999"));
	EXPECT_EQ(-EINVAL, cpus__parse(&cpus, "7,x"));
	EXPECT_EQ(-1, cpus__first_missing(&cpus, &empty));
}

TEST(the_first_cpu_that_is_not_there_is_named)
{
	struct cpus cpus = { 0 }, online = { 0 };

	ASSERT_EQ(0, cpus__parse(&cpus, "1,3,70"));
	ASSERT_EQ(0, cpus__parse(&online, "0-63"));
	EXPECT_EQ(70, cpus__first_missing(&cpus, &online));
	ASSERT_EQ(0, cpus__parse(&online, "64-127"));
	EXPECT_EQ(-1, cpus__first_missing(&cpus, &online));
}

TEST(we_run_on_cpus_that_are_online)
{
	struct cpus online, last = { 0 };

	ASSERT_EQ(0, cpus__online(&online));
	EXPECT_EQ(0, cpus__check(&online));
	ASSERT_EQ(0, cpus__parse(&last, "8191"));
	if (!cpus__has(&online, 8191))
		EXPECT_EQ(-ENODEV, cpus__check(&last));
}

TEST_HARNESS_MAIN
