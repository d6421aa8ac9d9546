/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring between the recorder and the process that unwinds; here, one plays both. */
#include "unwind/shm_ring.h"

#include <stdint.h>
#include <string.h>

#include "common/harness.h"

#define SIZE 4096

FIXTURE(exchange)
{
	struct exchange *exchange;
};

FIXTURE_SETUP(exchange)
{
	self->exchange = exchange__new(SIZE);
	ASSERT_NE(NULL, self->exchange);
	exchange__before_child(self->exchange);
}

FIXTURE_TEARDOWN(exchange)
{
	exchange__delete(self->exchange);
}

static bool put(struct exchange *exchange, uint64_t number, size_t bytes, size_t reserve)
{
	struct exchange_entry *entry = exchange__room(exchange, EXCHANGE_SAMPLE, bytes, reserve);

	if (!entry)
		return false;
	entry->data[0] = number;
	exchange__push(exchange);
	return true;
}

/* The child's next entry that is no filler, done; UINT64_MAX: there is none. */
static uint64_t serve(struct exchange *exchange)
{
	struct exchange_entry *entry;
	uint64_t number = UINT64_MAX;
	bool fresh;

	while (number == UINT64_MAX && (entry = exchange__next(exchange, &fresh))) {
		if (entry->kind != EXCHANGE_SKIP)
			number = entry->data[0];
		exchange__done(exchange);
	}
	return number;
}

/* The parent's oldest one that is done, taken out. */
static uint64_t take(struct exchange *exchange)
{
	struct exchange_entry *entry;
	uint64_t number = UINT64_MAX;
	bool done;

	while (number == UINT64_MAX && (entry = exchange__oldest(exchange, &done)) && done) {
		if (entry->kind != EXCHANGE_SKIP)
			number = entry->data[0];
		exchange__pop(exchange);
	}
	return number;
}

TEST_F(exchange, entries_of_any_size_come_around_the_end_in_order)
{
	uint64_t in = 0, done = 0, out = 0;

	for (int turn = 0; turn < 1000; turn++) {
		while (put(self->exchange, in, 8 + in * 37 % 900, 0))
			in++;
		ASSERT_LT(out, in);
		for (int i = 0; i < 3 && done < in; i++)
			ASSERT_EQ(done++, serve(self->exchange));
		while (out < done)
			ASSERT_EQ(out++, take(self->exchange));
		ASSERT_EQ(UINT64_MAX, take(self->exchange));
	}
}

TEST_F(exchange, no_more_fits_than_there_is)
{
	EXPECT_FALSE(put(self->exchange, 0, SIZE, 0));
	EXPECT_FALSE(put(self->exchange, 0, 8, SIZE));
	EXPECT_TRUE(put(self->exchange, 1, SIZE - sizeof(struct exchange_entry), 0));
	EXPECT_FALSE(put(self->exchange, 2, 8, 0));
	EXPECT_EQ(1, serve(self->exchange));
	EXPECT_FALSE(put(self->exchange, 2, 8, 0));
	EXPECT_EQ(1, take(self->exchange));
	EXPECT_TRUE(put(self->exchange, 2, 8, 0));
}

TEST_F(exchange, what_is_kept_in_reserve_is_for_those_who_need_none)
{
	while (put(self->exchange, 1, 100, 1024))
		;
	EXPECT_TRUE(put(self->exchange, 2, 100, 0));
	EXPECT_FALSE(put(self->exchange, 3, 100, 1024));
}

TEST_F(exchange, a_new_child_knows_what_was_put_before_it)
{
	bool fresh;

	ASSERT_TRUE(put(self->exchange, 1, 8, 0));
	ASSERT_NE(NULL, exchange__next(self->exchange, &fresh));
	EXPECT_TRUE(fresh);
	exchange__before_child(self->exchange);
	ASSERT_TRUE(put(self->exchange, 2, 8, 0));
	ASSERT_NE(NULL, exchange__next(self->exchange, &fresh));
	EXPECT_FALSE(fresh);
	exchange__done(self->exchange);
	ASSERT_NE(NULL, exchange__next(self->exchange, &fresh));
	EXPECT_TRUE(fresh);
}

TEST_F(exchange, what_was_not_done_is_left_to_the_next_child)
{
	for (uint64_t i = 0; i < 4; i++)
		ASSERT_TRUE(put(self->exchange, i, 8, 0));
	EXPECT_EQ(0, serve(self->exchange));
	EXPECT_EQ(0, take(self->exchange));
	/* The one that it died of. */
	exchange__pop(self->exchange);
	exchange__before_child(self->exchange);
	EXPECT_EQ(2, serve(self->exchange));
	EXPECT_EQ(2, take(self->exchange));
	EXPECT_EQ(3, serve(self->exchange));
}

/* Whatever a child that went mad leaves, the parent stays within the ring and gets to its end. */
TEST_F(exchange, sizes_that_lie_lose_entries_and_nothing_else)
{
	const uint32_t lies[] = { 0, 1, 8, 17, 4080, 8192, UINT32_MAX, UINT32_MAX - 15 };
	struct exchange_entry *entry;
	int nr;
	bool done;

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		while (put(self->exchange, 1, 100, 0))
			;
		entry = exchange__oldest(self->exchange, &done);
		ASSERT_NE(NULL, entry);
		entry->size = lies[i];
		for (nr = 0; exchange__oldest(self->exchange, &done); nr++) {
			ASSERT_GT(SIZE, nr);
			exchange__pop(self->exchange);
		}
		EXPECT_EQ(NULL, exchange__data(self->exchange, SIZE, 8));
		EXPECT_EQ(NULL, exchange__data(self->exchange, 0, SIZE_MAX));
	}
	exchange__before_child(self->exchange);
	ASSERT_TRUE(put(self->exchange, 7, 8, 0));
	EXPECT_EQ(7, serve(self->exchange));
	EXPECT_EQ(7, take(self->exchange));
}

TEST_F(exchange, the_bell_rings_once_until_it_is_reset)
{
	EXPECT_TRUE(exchange__ring_bell(self->exchange));
	EXPECT_FALSE(exchange__ring_bell(self->exchange));
	exchange__reset_bell(self->exchange);
	EXPECT_TRUE(exchange__ring_bell(self->exchange));
}

TEST_HARNESS_MAIN
