/* SPDX-License-Identifier: GPL-2.0-only */
/* When looks are due, and the time that each of them stands for. */
#include "top/schedule.h"

#include "base/units.h"
#include "common/harness.h"

#define MS NSEC_PER_MSEC
#define PERIOD (100 * MS)

FIXTURE(schedule)
{
	struct schedule schedule;
};

FIXTURE_SETUP(schedule)
{
	schedule__init(&self->schedule, PERIOD, NSEC_PER_SEC, 1);
}

FIXTURE_TEARDOWN(schedule)
{
}

TEST_F(schedule, looks_in_time_stand_for_a_period_each)
{
	for (int i = 0; i < 1000; i++) {
		EXPECT_LE(self->schedule.slot, self->schedule.due);
		EXPECT_GT(self->schedule.slot + PERIOD, self->schedule.due);
		EXPECT_EQ(PERIOD, schedule__take(&self->schedule, self->schedule.due));
	}
	EXPECT_EQ(NSEC_PER_SEC + 1000 * PERIOD, self->schedule.slot);
	EXPECT_EQ(0, self->schedule.unseen_ns);
}

TEST_F(schedule, a_gap_is_not_invented)
{
	uint64_t slot;

	schedule__take(&self->schedule, self->schedule.due);
	slot = self->schedule.slot;
	EXPECT_EQ(2 * PERIOD, schedule__take(&self->schedule, slot + 3600 * NSEC_PER_SEC));
	EXPECT_EQ(3600 * NSEC_PER_SEC - PERIOD, self->schedule.unseen_ns);
	EXPECT_EQ(slot + 3600 * NSEC_PER_SEC + PERIOD, self->schedule.slot);
	EXPECT_EQ(PERIOD, schedule__take(&self->schedule, self->schedule.due));
}

TEST_F(schedule, a_fast_one_may_miss_some)
{
	schedule__set_period(&self->schedule, MS);
	EXPECT_EQ(150 * MS, schedule__take(&self->schedule, self->schedule.slot + 149 * MS));
	EXPECT_EQ(0, self->schedule.unseen_ns);
}

TEST_F(schedule, slow_looks_stand_for_their_time)
{
	uint64_t now = NSEC_PER_SEC, weight = 0;

	for (int i = 0; i < 10; i++)
		weight = schedule__take(&self->schedule, now += 3 * NSEC_PER_SEC);
	EXPECT_EQ(3 * NSEC_PER_SEC, weight);
	/* 31 periods less 2, and 30 less 4, 8, and 16. */
	EXPECT_EQ((29 + 26 + 22 + 14) * PERIOD, self->schedule.unseen_ns);
}

TEST_HARNESS_MAIN
