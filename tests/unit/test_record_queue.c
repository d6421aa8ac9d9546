/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/record_queue.h"

#include <string.h>

#include "common/harness.h"

struct seen {
	uint64_t times[16];
	uint64_t values[16];
	size_t more[16];
	size_t nr;
};

static int see(void *ctx, uint64_t time, const void *record, size_t size, const void *more,
	       size_t more_size)
{
	struct seen *seen = ctx;

	(void)more;
	if (seen->nr == 16 || size != sizeof(uint64_t))
		return -1;
	seen->times[seen->nr] = time;
	memcpy(&seen->values[seen->nr], record, size);
	seen->more[seen->nr++] = more_size;
	return 0;
}

static int add(struct record_queue *queue, uint64_t time, uint64_t value)
{
	return record_queue__add(queue, time, &value, sizeof(value));
}

TEST(records_leave_by_time_and_those_of_one_time_as_they_came)
{
	struct record_queue queue = { 0 };
	struct seen seen = { 0 };

	ASSERT_EQ(0, add(&queue, 30, 1));
	ASSERT_EQ(0, add(&queue, 10, 2));
	ASSERT_EQ(0, add(&queue, 30, 3));
	ASSERT_EQ(0, add(&queue, 0, 4));
	ASSERT_EQ(0, record_queue__flush(&queue, see, &seen));
	ASSERT_EQ(4, seen.nr);
	EXPECT_EQ(4, seen.values[0]);
	EXPECT_EQ(2, seen.values[1]);
	EXPECT_EQ(1, seen.values[2]);
	EXPECT_EQ(3, seen.values[3]);
	record_queue__free(&queue);
}

TEST(a_round_hands_out_what_came_before_the_round_before_it)
{
	struct record_queue queue = { 0 };
	struct seen seen = { 0 };
	uint64_t settled = 1;

	ASSERT_EQ(0, add(&queue, 20, 1));
	ASSERT_EQ(0, record_queue__round(&queue, see, &seen, &settled));
	EXPECT_EQ(0, settled);
	EXPECT_EQ(0, seen.nr);
	/* Older than what came before the last round: still in time. */
	ASSERT_EQ(0, add(&queue, 15, 2));
	ASSERT_EQ(0, add(&queue, 40, 3));
	ASSERT_EQ(0, record_queue__round(&queue, see, &seen, &settled));
	EXPECT_EQ(20, settled);
	ASSERT_EQ(2, seen.nr);
	EXPECT_EQ(2, seen.values[0]);
	EXPECT_EQ(1, seen.values[1]);
	/* Queued records are flushed whole after their bytes have moved. */
	ASSERT_EQ(0, add(&queue, 35, 4));
	ASSERT_EQ(0, record_queue__flush(&queue, see, &seen));
	ASSERT_EQ(4, seen.nr);
	EXPECT_EQ(4, seen.values[2]);
	EXPECT_EQ(3, seen.values[3]);
	record_queue__free(&queue);
}

TEST(what_belongs_to_a_record_leaves_with_it)
{
	struct record_queue queue = { 0 };
	struct seen seen = { 0 };
	uint64_t more = 7;
	size_t size, more_size;

	EXPECT_EQ(NULL, record_queue__last(&queue, &size, &more_size));
	EXPECT_GT(0, record_queue__add_more(&queue, &more, sizeof(more)));
	ASSERT_EQ(0, add(&queue, 20, 1));
	ASSERT_EQ(0, record_queue__add_more(&queue, &more, sizeof(more)));
	ASSERT_EQ(0, record_queue__add_more(&queue, &more, sizeof(more)));
	ASSERT_NE(NULL, record_queue__last(&queue, &size, &more_size));
	EXPECT_EQ(sizeof(uint64_t), size);
	EXPECT_EQ(2 * sizeof(more), more_size);
	ASSERT_EQ(0, add(&queue, 10, 2));
	ASSERT_EQ(0, record_queue__flush(&queue, see, &seen));
	ASSERT_EQ(2, seen.nr);
	EXPECT_EQ(0, seen.more[0]);
	EXPECT_EQ(1, seen.values[1]);
	EXPECT_EQ(2 * sizeof(more), seen.more[1]);
	record_queue__free(&queue);
}

TEST_HARNESS_MAIN
