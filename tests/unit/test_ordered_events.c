/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <kselftest_harness.h>

#include "capture/ordered_events.h"

/* What was given out: a letter for each record. */
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
	struct queue queue = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, queue__add(&queue, "c", 2, 30));
	ASSERT_EQ(0, queue__add(&queue, "a", 2, 10));
	ASSERT_EQ(0, queue__add(&queue, "b", 2, 20));
	ASSERT_EQ(0, queue__give(&queue, UINT64_MAX, take, &given));
	EXPECT_STREQ("abc", given.text);
	EXPECT_EQ(2, given.last_size);
	queue__free(&queue);
}

TEST(records_of_one_time_keep_their_order)
{
	struct queue queue = { 0 };
	struct given given = { .nr = 0 };
	char text[] = "abcdefghijklmnopqrstuvwxyz";

	for (size_t i = 0; i < 26; i++)
		ASSERT_EQ(0, queue__add(&queue, text + i, 1, 5));
	ASSERT_EQ(0, queue__give(&queue, 6, take, &given));
	EXPECT_STREQ(text, given.text);
	queue__free(&queue);
}

TEST(what_is_too_young_stays_for_the_next_pass)
{
	struct queue queue = { 0 };
	struct given given = { .nr = 0 };

	ASSERT_EQ(0, queue__add(&queue, "c", 2, 20));
	ASSERT_EQ(0, queue__add(&queue, "a", 2, 10));
	ASSERT_EQ(0, queue__give(&queue, 20, take, &given));
	EXPECT_STREQ("a", given.text);
	ASSERT_EQ(0, queue__add(&queue, "b", 2, 15));
	ASSERT_EQ(0, queue__give(&queue, 21, take, &given));
	EXPECT_STREQ("abc", given.text);
	ASSERT_EQ(0, queue__give(&queue, UINT64_MAX, take, &given));
	EXPECT_EQ(3, given.nr);
	queue__free(&queue);
}

TEST(an_error_of_the_taker_is_passed_on_and_the_rest_kept)
{
	struct queue queue = { 0 };
	struct given given = { .result = -EPIPE };

	ASSERT_EQ(0, queue__add(&queue, "a", 2, 10));
	ASSERT_EQ(0, queue__add(&queue, "b", 2, 20));
	EXPECT_EQ(-EPIPE, queue__give(&queue, UINT64_MAX, take, &given));
	EXPECT_STREQ("a", given.text);
	given.result = 0;
	EXPECT_EQ(0, queue__give(&queue, UINT64_MAX, take, &given));
	EXPECT_STREQ("ab", given.text);
	queue__free(&queue);
}

TEST(nothing_in_nothing_out)
{
	struct queue queue = { 0 };

	EXPECT_EQ(0, queue__give(&queue, UINT64_MAX, take, NULL));
	queue__free(&queue);
}

TEST_HARNESS_MAIN
