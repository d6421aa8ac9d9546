/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/harness.h"

#include "base/idmap.h"
#include "capture/stacks.h"

TEST(stacks_are_found_by_their_ids_however_many)
{
	struct stacks *stacks = stacks__new();
	struct frames frames;

	ASSERT_TRUE(stacks != NULL);
	for (uint64_t id = 1; id <= 50000; id++) {
		uint64_t ips[3] = { id, id * 2, id * 3 };
		struct frames in = { ips, (uint32_t)(id % 4), false };

		ASSERT_EQ(0, stacks__add(stacks, id * 0x9e3779b97f4a7c15ULL, &in));
	}
	EXPECT_EQ(50000, stacks__count(stacks));
	for (uint64_t id = 1; id <= 50000; id++) {
		ASSERT_TRUE(stacks__find(stacks, id * 0x9e3779b97f4a7c15ULL, &frames));
		ASSERT_EQ(id % 4, frames.nr);
		for (uint32_t i = 0; i < frames.nr; i++)
			ASSERT_EQ(id * (i + 1), frames.ips[i]);
	}
	EXPECT_FALSE(stacks__find(stacks, 12345, &frames));
	stacks__delete(stacks);
}

TEST(a_known_id_keeps_its_first_frames)
{
	struct stacks *stacks = stacks__new();
	uint64_t first = 1, second = 2;
	struct frames frames = { &first, 1, false };

	ASSERT_EQ(0, stacks__add(stacks, 7, &frames));
	frames.ips = &second;
	ASSERT_EQ(0, stacks__add(stacks, 7, &frames));
	ASSERT_TRUE(stacks__find(stacks, 7, &frames));
	EXPECT_EQ(1, frames.ips[0]);
	EXPECT_EQ(1, stacks__count(stacks));
	stacks__delete(stacks);
}

TEST(a_cleared_table_is_empty_and_takes_new_stacks)
{
	struct stacks *stacks = stacks__new();
	uint64_t ip = 1;
	struct frames frames = { &ip, 1, false };

	for (uint64_t id = 1; id < 10000; id++)
		ASSERT_EQ(0, stacks__add(stacks, id, &frames));
	stacks__clear(stacks);
	EXPECT_EQ(0, stacks__count(stacks));
	EXPECT_FALSE(stacks__find(stacks, 7, &frames));
	frames = (struct frames){ &ip, 1, false };
	ASSERT_EQ(0, stacks__add(stacks, 7, &frames));
	EXPECT_TRUE(stacks__find(stacks, 7, &frames));
	stacks__delete(stacks);
	stacks__delete(NULL);
}

/* Removal moves entries up; whatever the order, the rest must stay findable. */
TEST(ids_stay_findable_while_others_are_removed)
{
	struct idmap map = { 0 };

	for (uint64_t id = 0; id < 5000; id++) {
		uint64_t *value = idmap__get(&map, id);

		ASSERT_TRUE(value != NULL);
		*value = id + 1;
	}
	for (uint64_t id = 0; id < 5000; id += 3)
		idmap__remove(&map, id);
	idmap__remove(&map, 0);
	idmap__remove(&map, 999999);
	for (uint64_t id = 0; id < 5000; id++) {
		uint64_t *value = idmap__find(&map, id);

		if (id % 3 == 0) {
			ASSERT_TRUE(value == NULL);
		} else {
			ASSERT_TRUE(value != NULL);
			ASSERT_EQ(id + 1, *value);
		}
	}
	idmap__clear(&map);
	EXPECT_TRUE(idmap__find(&map, 1) == NULL);
	EXPECT_EQ(0, *idmap__get(&map, 1));
	idmap__free(&map);
}

TEST_HARNESS_MAIN
