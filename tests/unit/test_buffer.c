/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <kselftest_harness.h>

#include "base/buffer.h"

TEST(what_is_appended_stays_while_it_grows)
{
	struct buffer buffer = { 0 };
	size_t wrong = 0;

	for (uint32_t i = 0; i < 10000; i++)
		ASSERT_EQ(0, buffer__append(&buffer, &i, sizeof(i)));
	EXPECT_EQ(40000, buffer.len);
	EXPECT_LE(buffer.len, buffer.capacity);
	for (uint32_t i = 0; i < 10000; i++)
		wrong += memcmp(buffer.data + 4 * i, &i, sizeof(i)) != 0;
	EXPECT_EQ(0, wrong);
	buffer__free(&buffer);
	EXPECT_EQ(NULL, buffer.data);
	EXPECT_EQ(0, buffer.len + buffer.capacity);
	buffer__free(&buffer);
}

TEST(reserve_makes_room_behind_what_is_there_and_changes_no_length)
{
	struct buffer buffer = { 0 };
	char *room;

	ASSERT_EQ(0, buffer__append(&buffer, "abc", 3));
	room = buffer__reserve(&buffer, 5000);
	ASSERT_NE(NULL, room);
	EXPECT_EQ(buffer.data + 3, room);
	EXPECT_EQ(3, buffer.len);
	memset(room, 'x', 5000);
	EXPECT_EQ(0, memcmp(buffer.data, "abc", 3));
	/* Exactly what is left needs no growth. */
	room = buffer__reserve(&buffer, buffer.capacity - buffer.len);
	EXPECT_EQ(buffer.data + 3, room);
	buffer__free(&buffer);
}

TEST(nothing_may_be_appended_and_reserved)
{
	struct buffer buffer = { 0 };

	EXPECT_EQ(0, buffer__append(&buffer, NULL, 0));
	EXPECT_EQ(0, buffer.len);
	EXPECT_NE(NULL, buffer__reserve(&buffer, 0));
	buffer__free(&buffer);
}

TEST(consume_drops_from_the_front)
{
	struct buffer buffer = { 0 };

	buffer__consume(&buffer, 0);
	ASSERT_EQ(0, buffer__append(&buffer, "abcdef", 6));
	buffer__consume(&buffer, 0);
	EXPECT_EQ(6, buffer.len);
	buffer__consume(&buffer, 2);
	EXPECT_EQ(4, buffer.len);
	EXPECT_EQ(0, memcmp(buffer.data, "cdef", 4));
	buffer__consume(&buffer, 4);
	EXPECT_EQ(0, buffer.len);
	ASSERT_EQ(0, buffer__append(&buffer, "g", 1));
	EXPECT_EQ('g', buffer.data[0]);
	buffer__free(&buffer);
}

TEST(sizes_that_cannot_be_are_refused_and_lose_nothing)
{
	struct buffer buffer = { 0 };

	ASSERT_EQ(0, buffer__append(&buffer, "abc", 3));
	EXPECT_EQ(NULL, buffer__reserve(&buffer, SIZE_MAX));
	EXPECT_EQ(NULL, buffer__reserve(&buffer, SIZE_MAX - 3));
	EXPECT_EQ(NULL, buffer__reserve(&buffer, SIZE_MAX / 4 - 2));
	EXPECT_EQ(-ENOMEM, buffer__append(&buffer, "x", SIZE_MAX / 2));
	EXPECT_EQ(3, buffer.len);
	EXPECT_EQ(0, memcmp(buffer.data, "abc", 3));
	buffer__free(&buffer);
}

TEST_HARNESS_MAIN
