/* SPDX-License-Identifier: GPL-2.0-only */
/* When a table that could not be made is tried again. */
#include "capture/table_tries.h"

#include <errno.h>

#include "base/units.h"
#include "common/harness.h"

#define MS NSEC_PER_MSEC

static struct rules_key file_of(uint64_t ino)
{
	return (struct rules_key){ .ino = ino, .dev = 8 << 20 };
}

/* Fails at a time. How long the file waits then, in ms; 0: not at all. */
static uint64_t wait_after(struct table_tries *tries, uint64_t ino, int err, uint64_t now)
{
	const struct rules_key file = file_of(ino);
	uint64_t ms = 0;

	if (!table_tries__fail(tries, &file, err, now))
		return 0;
	while (!table_tries__next(tries, now + ms * MS))
		ms++;
	return ms;
}

TEST(a_file_that_could_not_be_read_is_tried_again_after_ever_longer_pauses)
{
	struct table_tries tries = { 0 };
	uint64_t now = 5 * NSEC_PER_SEC, ms = 1000;

	for (int i = 0; i < 100; i++) {
		EXPECT_EQ(ms, wait_after(&tries, 7, -EIO, now));
		now += ms * MS;
		ms = ms < 64000 ? 2 * ms : 64000;
	}
	/* Of others, and of its own once it has had a table, the pause is the first one. */
	EXPECT_EQ(1000, wait_after(&tries, 8, -EACCES, now));
	table_tries__forget(&tries, &(struct rules_key){ .ino = 7, .dev = 8 << 20 });
	EXPECT_EQ(1000, wait_after(&tries, 7, -ECHILD, now));
}

TEST(a_file_that_hangs_is_tried_seldom)
{
	struct table_tries tries = { 0 };

	const struct rules_key file = file_of(7);
	uint64_t ms = 400;

	EXPECT_EQ(0, table_tries__hung(&tries, &file));
	for (unsigned int i = 1; i <= 20; i++) {
		EXPECT_EQ(ms, wait_after(&tries, 7, -ETIMEDOUT, NSEC_PER_SEC));
		EXPECT_EQ(i, table_tries__hung(&tries, &file));
		ms = ms < 32000 ? 2 * ms : 64000;
	}
	/* Other failures do not count. */
	EXPECT_EQ(1000, wait_after(&tries, 8, -EIO, NSEC_PER_SEC));
	EXPECT_EQ(400, wait_after(&tries, 8, -ETIMEDOUT, NSEC_PER_SEC));
	table_tries__forget(&tries, &file);
	EXPECT_EQ(0, table_tries__hung(&tries, &file));
}

TEST(where_processes_are_gone_or_none_can_be_made_some_tries_come_at_once)
{
	struct table_tries tries = { 0 };
	uint64_t now = NSEC_PER_SEC;

	for (int i = 0; i < TABLE_TRIES_AT_ONCE; i++)
		EXPECT_EQ(0, wait_after(&tries, 7, i & 1 ? -EAGAIN : -ESRCH, now));
	EXPECT_EQ(100, wait_after(&tries, 7, -ESRCH, now));
	EXPECT_EQ(200, wait_after(&tries, 7, -EAGAIN, now));
	for (int i = 0; i < 20; i++)
		wait_after(&tries, 7, -EAGAIN, now);
	EXPECT_EQ(6400, wait_after(&tries, 7, -EAGAIN, now));
}

TEST(a_storm_of_failures_costs_few_tries)
{
	struct table_tries tries = { 0 };
	const struct rules_key file = file_of(7);
	bool waits = false;
	size_t nr = 0;

	/* A walk asks each ms, for ten seconds. */
	for (uint64_t now = NSEC_PER_SEC; now < 11 * NSEC_PER_SEC; now += MS) {
		if (table_tries__next(&tries, now))
			waits = false;
		if (waits)
			continue;
		waits = table_tries__fail(&tries, &file, -EAGAIN, now);
		nr++;
	}
	EXPECT_LE(TABLE_TRIES_AT_ONCE + 5, nr);
	EXPECT_GE(TABLE_TRIES_AT_ONCE + 8, nr);
}

TEST(each_file_that_waits_is_told_once_and_not_before_its_time)
{
	struct table_tries tries = { 0 };
	const struct rules_key one = file_of(1), two = file_of(2);
	const struct rules_key *next;

	EXPECT_TRUE(table_tries__fail(&tries, &one, -EIO, 100));
	EXPECT_TRUE(table_tries__fail(&tries, &two, -EIO, 200));
	EXPECT_TRUE(table_tries__has(&tries, &two));
	EXPECT_EQ(NULL, table_tries__next(&tries, NSEC_PER_SEC + 99));
	next = table_tries__next(&tries, NSEC_PER_SEC + 100);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(1, next->ino);
	EXPECT_EQ(NULL, table_tries__next(&tries, NSEC_PER_SEC + 199));
	next = table_tries__next(&tries, 2 * NSEC_PER_SEC);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(2, next->ino);
	EXPECT_EQ(NULL, table_tries__next(&tries, UINT64_MAX - 1));
}

TEST(where_there_is_no_room_the_file_that_came_first_is_forgotten)
{
	struct table_tries tries = { 0 };
	struct rules_key file;

	for (uint64_t ino = 1; ino <= TABLE_TRIES_FILES + 1; ino++) {
		file = file_of(ino);
		EXPECT_TRUE(table_tries__fail(&tries, &file, -EIO, 1));
	}
	file = file_of(1);
	EXPECT_FALSE(table_tries__has(&tries, &file));
	file = file_of(2);
	EXPECT_TRUE(table_tries__has(&tries, &file));
	file = file_of(TABLE_TRIES_FILES + 1);
	EXPECT_TRUE(table_tries__has(&tries, &file));
}

TEST_HARNESS_MAIN
