/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <kselftest_harness.h>

#include "capture/ordered_events.h"

/* The records that were delivered, a letter for each. */
struct given {
	char text[64];
	size_t nr;
	size_t last_size;
	int result;
};

static int take(void *ctx, const void *event, size_t size)
{
	struct given *given = ctx;

	given->text[given->nr++] = *(const char *)event;
	given->last_size = size;
	return given->result;
}

TEST(records_come_out_in_the_order_of_their_times)
{
	struct ordered_events ordered_events = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, ordered_events__add(&ordered_events, "c", 2, 30));
	ASSERT_EQ(0, ordered_events__add(&ordered_events, "a", 2, 10));
	ASSERT_EQ(0, ordered_events__add(&ordered_events, "b", 2, 20));
	ASSERT_EQ(0, ordered_events__give(&ordered_events, UINT64_MAX, take, &given));
	EXPECT_STREQ("abc", given.text);
	EXPECT_EQ(2, given.last_size);
	ordered_events__free(&ordered_events);
}

TEST(records_of_one_time_keep_their_order)
{
	struct ordered_events ordered_events = { 0 };
	struct given given = { .nr = 0 };
	char text[] = "abcdefghijklmnopqrstuvwxyz";

	for (size_t i = 0; i < 26; i++)
		ASSERT_EQ(0, ordered_events__add(&ordered_events, text + i, 1, 5));
	ASSERT_EQ(0, ordered_events__give(&ordered_events, 6, take, &given));
	EXPECT_STREQ(text, given.text);
	ordered_events__free(&ordered_events);
}

TEST(what_is_too_young_stays_for_the_next_pass)
{
	struct ordered_events ordered_events = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, ordered_events__add(&ordered_events, "c", 2, 20));
	ASSERT_EQ(0, ordered_events__add(&ordered_events, "a", 2, 10));
	ASSERT_EQ(0, ordered_events__give(&ordered_events, 20, take, &given));
	EXPECT_STREQ("a", given.text);
	ASSERT_EQ(0, ordered_events__add(&ordered_events, "b", 2, 15));
	ASSERT_EQ(0, ordered_events__give(&ordered_events, 21, take, &given));
	EXPECT_STREQ("abc", given.text);
	ASSERT_EQ(0, ordered_events__give(&ordered_events, UINT64_MAX, take, &given));
	EXPECT_EQ(3, given.nr);
	ordered_events__free(&ordered_events);
}

TEST(an_error_of_the_taker_is_passed_on_and_the_rest_kept)
{
	struct ordered_events ordered_events = { 0 };
	struct given given = { .result = -EPIPE };

	ASSERT_EQ(0, ordered_events__add(&ordered_events, "a", 2, 10));
	ASSERT_EQ(0, ordered_events__add(&ordered_events, "b", 2, 20));
	EXPECT_EQ(-EPIPE, ordered_events__give(&ordered_events, UINT64_MAX, take, &given));
	EXPECT_STREQ("a", given.text);
	given.result = 0;
	EXPECT_EQ(0, ordered_events__give(&ordered_events, UINT64_MAX, take, &given));
	EXPECT_STREQ("ab", given.text);
	ordered_events__free(&ordered_events);
}

TEST(nothing_in_nothing_out)
{
	struct ordered_events ordered_events = { 0 };

	EXPECT_EQ(0, ordered_events__give(&ordered_events, UINT64_MAX, take, NULL));
	ordered_events__free(&ordered_events);
}

TEST_HARNESS_MAIN
