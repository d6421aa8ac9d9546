/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring between the recorder and the process that unwinds; here, one plays both. */
#include "unwind/shm_ring.h"

#include <stdint.h>
#include <string.h>

#include "common/harness.h"

#define SIZE 4096

FIXTURE(shm_ring)
{
	struct shm_ring *shm_ring;
};

FIXTURE_SETUP(shm_ring)
{
	self->shm_ring = shm_ring__new(SIZE);
	ASSERT_NE(NULL, self->shm_ring);
	shm_ring__before_child(self->shm_ring);
}

FIXTURE_TEARDOWN(shm_ring)
{
	shm_ring__delete(self->shm_ring);
}

static bool put(struct shm_ring *shm_ring, uint64_t number, size_t bytes, size_t reserve)
{
	struct shm_ring_entry *entry = shm_ring__room(shm_ring, SHM_RING_SAMPLE, bytes, reserve);

	if (!entry)
		return false;
	entry->data[0] = number;
	shm_ring__push(shm_ring);
	return true;
}

/* The child's next entry that is no filler, done; UINT64_MAX: there is none. */
static uint64_t serve(struct shm_ring *shm_ring)
{
	struct shm_ring_entry *entry;
	uint64_t number = UINT64_MAX;
	bool fresh;

	while (number == UINT64_MAX && (entry = shm_ring__next(shm_ring, &fresh))) {
		if (entry->kind != SHM_RING_SKIP)
			number = entry->data[0];
		shm_ring__done(shm_ring);
	}
	return number;
}

/* The parent's oldest one that is done, taken out. */
static uint64_t take(struct shm_ring *shm_ring)
{
	struct shm_ring_entry *entry;
	uint64_t number = UINT64_MAX;
	bool done;

	while (number == UINT64_MAX && (entry = shm_ring__oldest(shm_ring, &done)) && done) {
		if (entry->kind != SHM_RING_SKIP)
			number = entry->data[0];
		shm_ring__pop(shm_ring);
	}
	return number;
}

TEST_F(shm_ring, entries_of_any_size_come_around_the_end_in_order)
{
	uint64_t in = 0, done = 0, out = 0;

	for (int turn = 0; turn < 1000; turn++) {
		while (put(self->shm_ring, in, 8 + in * 37 % 900, 0))
			in++;
		ASSERT_LT(out, in);
		for (int i = 0; i < 3 && done < in; i++)
			ASSERT_EQ(done++, serve(self->shm_ring));
		while (out < done)
			ASSERT_EQ(out++, take(self->shm_ring));
		ASSERT_EQ(UINT64_MAX, take(self->shm_ring));
	}
}

/* Each page of it that is ever written to is memory for as long as the ring is there. */
TEST_F(shm_ring, a_ring_that_is_emptied_each_time_stays_in_its_first_bytes)
{
	const char *start = NULL, *at;

	for (uint64_t i = 0; i < 1000; i++) {
		ASSERT_TRUE(put(self->shm_ring, i, 100, 0));
		ASSERT_EQ(i, serve(self->shm_ring));
		at = shm_ring__data(self->shm_ring, 0, 8);
		ASSERT_NE(NULL, at);
		start = start ? start : at;
		ASSERT_GE(SIZE / 8, at - start);
		ASSERT_EQ(i, take(self->shm_ring));
	}
}

TEST_F(shm_ring, no_more_fits_than_there_is)
{
	EXPECT_FALSE(put(self->shm_ring, 0, SIZE, 0));
	EXPECT_FALSE(put(self->shm_ring, 0, 8, SIZE));
	EXPECT_TRUE(put(self->shm_ring, 1, SIZE - sizeof(struct shm_ring_entry), 0));
	EXPECT_FALSE(put(self->shm_ring, 2, 8, 0));
	EXPECT_EQ(1, serve(self->shm_ring));
	EXPECT_FALSE(put(self->shm_ring, 2, 8, 0));
	EXPECT_EQ(1, take(self->shm_ring));
	EXPECT_TRUE(put(self->shm_ring, 2, 8, 0));
}

TEST_F(shm_ring, what_is_kept_in_reserve_is_for_those_who_need_none)
{
	while (put(self->shm_ring, 1, 100, 1024))
		;
	EXPECT_TRUE(put(self->shm_ring, 2, 100, 0));
	EXPECT_FALSE(put(self->shm_ring, 3, 100, 1024));
}

TEST_F(shm_ring, a_new_child_knows_what_was_put_before_it)
{
	bool fresh;

	ASSERT_TRUE(put(self->shm_ring, 1, 8, 0));
	ASSERT_NE(NULL, shm_ring__next(self->shm_ring, &fresh));
	EXPECT_TRUE(fresh);
	shm_ring__before_child(self->shm_ring);
	ASSERT_TRUE(put(self->shm_ring, 2, 8, 0));
	ASSERT_NE(NULL, shm_ring__next(self->shm_ring, &fresh));
	EXPECT_FALSE(fresh);
	shm_ring__done(self->shm_ring);
	ASSERT_NE(NULL, shm_ring__next(self->shm_ring, &fresh));
	EXPECT_TRUE(fresh);
}

TEST_F(shm_ring, what_was_not_done_is_left_to_the_next_child)
{
	for (uint64_t i = 0; i < 4; i++)
		ASSERT_TRUE(put(self->shm_ring, i, 8, 0));
	EXPECT_EQ(0, serve(self->shm_ring));
	EXPECT_EQ(0, take(self->shm_ring));
	/* The one that it died of. */
	shm_ring__pop(self->shm_ring);
	shm_ring__before_child(self->shm_ring);
	EXPECT_EQ(2, serve(self->shm_ring));
	EXPECT_EQ(2, take(self->shm_ring));
	EXPECT_EQ(3, serve(self->shm_ring));
}

/* Sizes that a broken child leaves keep the parent within the ring, and it reaches its end. */
TEST_F(shm_ring, sizes_that_lie_lose_entries_and_nothing_else)
{
	const uint32_t lies[] = { 0, 1, 8, 17, 4080, 8192, UINT32_MAX, UINT32_MAX - 15 };
	struct shm_ring_entry *entry;
	int nr;
	bool done;

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		while (put(self->shm_ring, 1, 100, 0))
			;
		entry = shm_ring__oldest(self->shm_ring, &done);
		ASSERT_NE(NULL, entry);
		entry->size = lies[i];
		for (nr = 0; shm_ring__oldest(self->shm_ring, &done); nr++) {
			ASSERT_GT(SIZE, nr);
			shm_ring__pop(self->shm_ring);
		}
		EXPECT_EQ(NULL, shm_ring__data(self->shm_ring, SIZE, 8));
		EXPECT_EQ(NULL, shm_ring__data(self->shm_ring, 0, SIZE_MAX));
	}
	shm_ring__before_child(self->shm_ring);
	ASSERT_TRUE(put(self->shm_ring, 7, 8, 0));
	EXPECT_EQ(7, serve(self->shm_ring));
	EXPECT_EQ(7, take(self->shm_ring));
}

TEST_F(shm_ring, the_bell_rings_once_until_it_is_reset)
{
	EXPECT_TRUE(shm_ring__ring_bell(self->shm_ring));
	EXPECT_FALSE(shm_ring__ring_bell(self->shm_ring));
	shm_ring__reset_bell(self->shm_ring);
	EXPECT_TRUE(shm_ring__ring_bell(self->shm_ring));
}

TEST_HARNESS_MAIN
