/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include <kselftest_harness.h>

#include "base/extents.h"

FIXTURE(extents)
{
	struct extents extents;
	uint32_t start;
};

FIXTURE_SETUP(extents)
{
	self->extents = (struct extents){ .nr_places = 100 };
}

FIXTURE_TEARDOWN(extents)
{
	extents__free(&self->extents);
}

TEST_F(extents, follow_each_other_until_there_is_no_room)
{
	ASSERT_EQ(0, extents__take(&self->extents, 60, &self->start));
	EXPECT_EQ(0, self->start);
	EXPECT_EQ(-ENOSPC, extents__take(&self->extents, 41, &self->start));
	ASSERT_EQ(0, extents__take(&self->extents, 40, &self->start));
	EXPECT_EQ(60, self->start);
	EXPECT_EQ(-ENOSPC, extents__take(&self->extents, 1, &self->start));
}

TEST_F(extents, take_the_first_gap_that_is_large_enough)
{
	for (uint32_t i = 0; i < 10; i++)
		ASSERT_EQ(0, extents__take(&self->extents, 10, &self->start));
	extents__shrink(&self->extents, 20, 4);
	extents__shrink(&self->extents, 50, 0);
	extents__shrink(&self->extents, 60, 0);
	ASSERT_EQ(0, extents__take(&self->extents, 12, &self->start));
	EXPECT_EQ(50, self->start);
	ASSERT_EQ(0, extents__take(&self->extents, 6, &self->start));
	EXPECT_EQ(24, self->start);
	EXPECT_EQ(-ENOSPC, extents__take(&self->extents, 9, &self->start));
	ASSERT_EQ(0, extents__take(&self->extents, 8, &self->start));
	EXPECT_EQ(62, self->start);
}

TEST_F(extents, one_that_is_not_there_is_no_error)
{
	extents__shrink(&self->extents, 5, 0);
	ASSERT_EQ(0, extents__take(&self->extents, 100, &self->start));
	extents__shrink(&self->extents, 5, 0);
	EXPECT_EQ(-ENOSPC, extents__take(&self->extents, 1, &self->start));
	extents__shrink(&self->extents, 0, 0);
	EXPECT_EQ(0, extents__take(&self->extents, 100, &self->start));
}

TEST_HARNESS_MAIN
