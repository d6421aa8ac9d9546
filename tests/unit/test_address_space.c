/* SPDX-License-Identifier: GPL-2.0-only */
/* Address spaces as they were: who had what mapped where, and when. */
#include "unwind/address_space.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"

FIXTURE(space)
{
	struct address_space *space;
};

FIXTURE_SETUP(space)
{
	self->space = address_space__new();
	ASSERT_NE(NULL, self->space);
}

FIXTURE_TEARDOWN(space)
{
	address_space__delete(self->space);
}

static int map_at(struct address_space *space, pid_t pid, uint64_t start, uint64_t len,
		  const char *path, uint64_t time)
{
	const struct address_space_map map = {
		.start = start, .len = len, .pgoff = 0x1000, .path = path, .ino = 7
	};

	return address_space__map(space, pid, &map, time);
}

static const struct maps_entry *find(struct address_space *space, pid_t pid, uint64_t time,
				     uint64_t addr)
{
	const struct maps *maps = address_space__at(space, pid, time);

	return maps ? maps__find(maps, time, addr) : NULL;
}

/* The path of what is there, "-" if nothing is. */
static const char *path_at(struct address_space *space, pid_t pid, uint64_t time, uint64_t addr)
{
	const struct maps_entry *map = find(space, pid, time, addr);

	return map ? map->file->path : "-";
}

TEST_F(space, a_mapping_has_its_bounds_and_its_time)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 10));
	EXPECT_STREQ("-", path_at(self->space, 1, 9, 0x1000));
	EXPECT_STREQ("/a", path_at(self->space, 1, 10, 0x1000));
	EXPECT_STREQ("/a", path_at(self->space, 1, 99, 0x1fff));
	EXPECT_STREQ("-", path_at(self->space, 1, 99, 0x2000));
	EXPECT_STREQ("-", path_at(self->space, 1, 99, 0xfff));
	EXPECT_STREQ("-", path_at(self->space, 2, 99, 0x1000));
	EXPECT_EQ(0x1000, find(self->space, 1, 10, 0x1000)->pgoff);
}

TEST_F(space, a_mapping_that_is_covered_was_there_before)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 10));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/b", 20));
	EXPECT_STREQ("/a", path_at(self->space, 1, 19, 0x1800));
	EXPECT_STREQ("/b", path_at(self->space, 1, 20, 0x1800));
}

TEST_F(space, what_is_left_beside_a_new_mapping_lives_on_with_its_place_in_the_file)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x10000, 0x5000, "/a", 10));
	ASSERT_EQ(0, map_at(self->space, 1, 0x12000, 0x1000, "/b", 20));
	EXPECT_STREQ("/a", path_at(self->space, 1, 30, 0x11fff));
	EXPECT_STREQ("/b", path_at(self->space, 1, 30, 0x12000));
	EXPECT_STREQ("/b", path_at(self->space, 1, 30, 0x12fff));
	EXPECT_STREQ("/a", path_at(self->space, 1, 30, 0x13000));
	EXPECT_EQ(0x4000, find(self->space, 1, 30, 0x13000)->pgoff);
	EXPECT_EQ(0x1000, find(self->space, 1, 30, 0x11000)->pgoff);
	EXPECT_STREQ("-", path_at(self->space, 1, 30, 0x15000));
}

TEST_F(space, what_proc_tells_late_does_not_cover_what_came_after_it)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/new", 20));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/old", 0));
	EXPECT_STREQ("/old", path_at(self->space, 1, 19, 0x1000));
	EXPECT_STREQ("/new", path_at(self->space, 1, 20, 0x1000));
}

TEST_F(space, a_child_has_what_its_parent_had_and_each_goes_its_way)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 0));
	ASSERT_EQ(0, address_space__fork(self->space, 2, 1, 10));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/parent", 20));
	ASSERT_EQ(0, map_at(self->space, 2, 0x3000, 0x1000, "/child", 20));
	EXPECT_STREQ("/a", path_at(self->space, 2, 30, 0x1000));
	EXPECT_STREQ("/parent", path_at(self->space, 1, 30, 0x1000));
	EXPECT_STREQ("/a", path_at(self->space, 1, 15, 0x1000));
	EXPECT_STREQ("/child", path_at(self->space, 2, 30, 0x3000));
	EXPECT_STREQ("-", path_at(self->space, 1, 30, 0x3000));
}

TEST_F(space, an_unchanged_fork_shares_what_is_known)
{
	uint64_t bytes;

	for (uint64_t i = 0; i < 100; i++)
		ASSERT_EQ(0, map_at(self->space, 1, 0x1000 * (i + 1), 0x1000, "/a", 0));
	bytes = address_space__bytes(self->space);
	for (int pid = 2; pid < 102; pid++)
		ASSERT_EQ(0, address_space__fork(self->space, pid, 1, 10));
	EXPECT_GT(3 * bytes, address_space__bytes(self->space) - bytes);
	EXPECT_EQ(maps__id(address_space__at(self->space, 1, 20)),
		  maps__id(address_space__at(self->space, 50, 20)));
}

TEST_F(space, an_exec_ends_what_was_there)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/sh", 0));
	ASSERT_EQ(0, address_space__exec(self->space, 1, 20));
	ASSERT_EQ(0, map_at(self->space, 1, 0x2000, 0x1000, "/ls", 20));
	EXPECT_STREQ("/sh", path_at(self->space, 1, 19, 0x1000));
	EXPECT_STREQ("-", path_at(self->space, 1, 20, 0x1000));
	EXPECT_STREQ("/ls", path_at(self->space, 1, 20, 0x2000));
	EXPECT_STREQ("-", path_at(self->space, 1, 19, 0x2000));
}

TEST_F(space, what_proc_told_before_an_exec_does_not_get_into_the_new_program)
{
	ASSERT_EQ(0, address_space__exec(self->space, 1, 20));
	ASSERT_EQ(0, map_at(self->space, 1, 0x2000, 0x1000, "/ls", 20));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/sh", 0));
	EXPECT_STREQ("-", path_at(self->space, 1, 30, 0x1000));
	EXPECT_STREQ("/ls", path_at(self->space, 1, 30, 0x2000));
}

TEST_F(space, who_ended_is_known_until_it_is_forgotten)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 0));
	address_space__exit(self->space, 1, 10);
	address_space__forget(self->space, 9);
	EXPECT_STREQ("/a", path_at(self->space, 1, 10, 0x1000));
	address_space__forget(self->space, 10);
	EXPECT_STREQ("-", path_at(self->space, 1, 10, 0x1000));
}

TEST_F(space, a_pid_that_is_used_again_is_another_process)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 0));
	ASSERT_EQ(0, map_at(self->space, 2, 0x1000, 0x1000, "/b", 0));
	address_space__exit(self->space, 2, 10);
	ASSERT_EQ(0, address_space__fork(self->space, 2, 1, 20));
	EXPECT_STREQ("/b", path_at(self->space, 2, 12, 0x1000));
	EXPECT_STREQ("/a", path_at(self->space, 2, 20, 0x1000));
	address_space__forget(self->space, 30);
	EXPECT_STREQ("/a", path_at(self->space, 2, 30, 0x1000));
}

TEST_F(space, all_is_given_back_when_all_is_forgotten)
{
	uint64_t bytes = address_space__bytes(self->space);
	char path[32];

	for (int pid = 1; pid < 4000; pid++) {
		snprintf(path, sizeof(path), "/program-%d", pid);
		ASSERT_EQ(0, map_at(self->space, pid, 0x1000, 0x1000, path, 1));
		ASSERT_EQ(0, map_at(self->space, pid, 0x1000, 0x1000, "/again", 2));
		ASSERT_EQ(0, address_space__exec(self->space, pid, 3));
		address_space__exit(self->space, pid, 4);
	}
	address_space__forget(self->space, 5);
	EXPECT_EQ(bytes, address_space__bytes(self->space));
}

TEST_F(space, a_program_that_makes_code_without_end_takes_bounded_memory)
{
	uint64_t bytes;

	for (uint64_t i = 0; i < 3 * LAYOUT_MAX_MAPS; i++)
		ASSERT_EQ(0, map_at(self->space, 1, 0x1000 * (i % 64 + 1), 0x1000,
				    i & 64 ? "/a" : "/b", i));
	EXPECT_EQ(0, address_space__refused(self->space));
	for (uint64_t i = 0; i < 3 * LAYOUT_MAX_MAPS; i++)
		ASSERT_EQ(0, map_at(self->space, 1, 0x1000 * (i + 1), 0x1000, "/a", i));
	EXPECT_LT(0, address_space__refused(self->space));
	bytes = address_space__bytes(self->space);
	EXPECT_GT((LAYOUT_MAX_MAPS + 100) * sizeof(struct maps_entry), bytes);
}

TEST_F(space, a_program_with_too_much_code_costs_no_other_its_verdict)
{
	static const uint64_t ips[] = { 0x1100, 0x7000000 };

	ASSERT_EQ(0, map_at(self->space, 2, 0x1000, 0x1000, "/b", 0));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 0));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 1, 1, ips, 2));
	for (uint64_t i = 1; i < LAYOUT_MAX_MAPS + 10; i++)
		ASSERT_EQ(0, map_at(self->space, 1, 0x10000000 + 0x1000 * i, 0x1000, "/a", i));
	ASSERT_EQ(0, address_space__fork(self->space, 3, 1, 20000));
	ASSERT_EQ(0, map_at(self->space, 3, 0x1000, 0x800, "/b", 20001));
	/* What is in none of the mappings that found room may be code, there and in a child. */
	EXPECT_EQ(2, address_space__keep_frames(self->space, 1, 30000, ips, 2));
	EXPECT_EQ(2, address_space__keep_frames(self->space, 3, 30000, ips, 2));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 2, 30000, ips, 2));
	/* Another program has a layout of its own. */
	ASSERT_EQ(0, address_space__exec(self->space, 1, 40000));
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/c", 40001));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 1, 50000, ips, 2));
}

TEST_F(space, who_forked_a_process_is_known_while_it_is)
{
	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 0));
	ASSERT_EQ(0, address_space__fork(self->space, 2, 1, 10));
	EXPECT_EQ(1, address_space__parent(self->space, 2));
	EXPECT_EQ(0, address_space__parent(self->space, 1));
	EXPECT_EQ(0, address_space__parent(self->space, 3));
	address_space__exit(self->space, 2, 20);
	EXPECT_EQ(1, address_space__parent(self->space, 2));
	address_space__forget(self->space, 20);
	EXPECT_EQ(0, address_space__parent(self->space, 2));
}

TEST_F(space, a_mapping_that_is_told_again_takes_no_room)
{
	uint64_t bytes;

	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "//anon", 1));
	bytes = address_space__bytes(self->space);
	for (uint64_t i = 0; i < 100; i++)
		ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "//anon", i));
	EXPECT_EQ(bytes, address_space__bytes(self->space));
}

TEST_F(space, frames_are_kept_up_to_the_first_that_is_in_no_code)
{
	const uint64_t good[] = { 0x1000, 0x2000, 0x1800 };
	const uint64_t data[] = { 0x1000, 0x1800, 0x2001, 0x1800 };
	const uint64_t small[] = { 0x1000, 3, 0x1800 };
	const uint64_t zero[] = { 0x1000, 0, 0x1800 };
	const uint64_t lost[] = { 0x2000, 0x1800 };

	ASSERT_EQ(0, map_at(self->space, 1, 0x1000, 0x1000, "/a", 10));
	/* A return address behind the last byte belongs to the call before it. */
	EXPECT_EQ(3, address_space__keep_frames(self->space, 1, 10, good, 3));
	EXPECT_EQ(2, address_space__keep_frames(self->space, 1, 10, data, 4));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 1, 10, small, 3));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 1, 10, zero, 3));
	EXPECT_EQ(0, address_space__keep_frames(self->space, 1, 10, lost, 2));
	EXPECT_EQ(0, address_space__keep_frames(self->space, 1, 9, good, 3));
	EXPECT_EQ(0, address_space__keep_frames(self->space, 1, 10, good, 0));
}

TEST_F(space, of_a_process_that_nothing_is_known_of_only_what_cannot_be_code_is_cut)
{
	const uint64_t ips[] = { 0x1000, 0x2000, (1ULL << 56) - 1 };
	const uint64_t low[] = { 0x1000, 0xfff, 0x2000 };
	const uint64_t high[] = { 0x1000, 0x2000, 1ULL << 56 };

	EXPECT_EQ(3, address_space__keep_frames(self->space, 1, 10, ips, 3));
	EXPECT_EQ(1, address_space__keep_frames(self->space, 1, 10, low, 3));
	EXPECT_EQ(2, address_space__keep_frames(self->space, 1, 10, high, 3));
}

TEST_HARNESS_MAIN
