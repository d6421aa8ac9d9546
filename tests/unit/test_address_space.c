/* SPDX-License-Identifier: GPL-2.0-only */
/* Address spaces as they were: which process had what mapped where, and when. */
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "callchain/user_chain.h"
#include "common/harness.h"
#include "common/machine_events.h"

FIXTURE(space)
{
	struct machine *machine;
};

FIXTURE_SETUP(space)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
}

FIXTURE_TEARDOWN(space)
{
	machine__delete(self->machine);
}

static const struct maps_entry *find(struct machine *machine, pid_t pid, uint64_t time,
				     uint64_t addr)
{
	const struct maps *maps =
		process__maps_at(machine__process_at(machine, pid, time), time);

	return maps ? maps__find(maps, time, addr) : NULL;
}

static size_t keep_frames(struct machine *machine, pid_t pid, uint64_t time, const uint64_t *ips,
			  size_t nr)
{
	return user_chain__code(process__maps_at(machine__process_at(machine, pid, time), time),
				time, ips, nr);
}

TEST_F(space, a_mapping_has_its_bounds_and_its_time)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 10));
	EXPECT_STREQ("-", path_at(self->machine, 1, 9, 0x1000));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 10, 0x1000));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 99, 0x1fff));
	EXPECT_STREQ("-", path_at(self->machine, 1, 99, 0x2000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 99, 0xfff));
	EXPECT_STREQ("-", path_at(self->machine, 2, 99, 0x1000));
	EXPECT_EQ(0x1000, find(self->machine, 1, 10, 0x1000)->pgoff);
}

static uint64_t start_before(struct machine *machine, uint64_t time, uint64_t addr)
{
	const struct maps *maps = process__maps_at(machine__process_at(machine, 1, time), time);
	const struct maps_entry *map = maps__before(maps, time, addr);

	return map ? map->start : 0;
}

TEST_F(space, the_mapping_before_an_address_is_the_last_that_begins_there_or_lower)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 10));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x5000, 0x1000, "/b", 20));
	EXPECT_EQ(0, start_before(self->machine, 30, 0xfff));
	EXPECT_EQ(0x1000, start_before(self->machine, 30, 0x1000));
	EXPECT_EQ(0x1000, start_before(self->machine, 30, 0x1fff));
	EXPECT_EQ(0x1000, start_before(self->machine, 30, 0x4fff));
	EXPECT_EQ(0x5000, start_before(self->machine, 30, 0x5000));
	EXPECT_EQ(0x5000, start_before(self->machine, 30, ~0ULL));
	EXPECT_EQ(0x1000, start_before(self->machine, 19, 0x9000));
	/* The new mapping covers the second one, which is no longer found at that time. */
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x5000, 0x2000, "/c", 40));
	EXPECT_EQ(0x5000, start_before(self->machine, 30, 0x8000));
}

TEST_F(space, a_mapping_that_is_covered_was_there_before)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 10));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/b", 20));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 19, 0x1800));
	EXPECT_STREQ("/b", path_at(self->machine, 1, 20, 0x1800));
}

TEST_F(space, what_is_left_beside_a_new_mapping_lives_on_with_its_place_in_the_file)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x10000, 0x5000, "/a", 10));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x12000, 0x1000, "/b", 20));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 30, 0x11fff));
	EXPECT_STREQ("/b", path_at(self->machine, 1, 30, 0x12000));
	EXPECT_STREQ("/b", path_at(self->machine, 1, 30, 0x12fff));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 30, 0x13000));
	EXPECT_EQ(0x4000, find(self->machine, 1, 30, 0x13000)->pgoff);
	EXPECT_EQ(0x1000, find(self->machine, 1, 30, 0x11000)->pgoff);
	EXPECT_STREQ("-", path_at(self->machine, 1, 30, 0x15000));
}

TEST_F(space, what_proc_tells_late_does_not_cover_what_came_after_it)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/new", 20));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/old", 0));
	EXPECT_STREQ("/old", path_at(self->machine, 1, 19, 0x1000));
	EXPECT_STREQ("/new", path_at(self->machine, 1, 20, 0x1000));
}

TEST_F(space, a_child_has_what_its_parent_had_and_each_goes_its_way)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 0));
	ASSERT_EQ(0, forks(self->machine, 2, 1, 10));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/parent", 20));
	ASSERT_EQ(0, maps_code(self->machine, 2, 0x3000, 0x1000, "/child", 20));
	EXPECT_STREQ("/a", path_at(self->machine, 2, 30, 0x1000));
	EXPECT_STREQ("/parent", path_at(self->machine, 1, 30, 0x1000));
	EXPECT_STREQ("/a", path_at(self->machine, 1, 15, 0x1000));
	EXPECT_STREQ("/child", path_at(self->machine, 2, 30, 0x3000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 30, 0x3000));
}

TEST_F(space, an_unchanged_fork_shares_what_is_known)
{
	uint64_t bytes;

	for (uint64_t i = 0; i < 100; i++)
		ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000 * (i + 1), 0x1000, "/a", 0));
	bytes = machine__bytes(self->machine);
	for (int pid = 2; pid < 102; pid++)
		ASSERT_EQ(0, forks(self->machine, pid, 1, 10));
	EXPECT_GT(4 * bytes, machine__bytes(self->machine) - bytes);
	EXPECT_EQ(process__maps_at(machine__process(self->machine, 1), 20),
		  process__maps_at(machine__process(self->machine, 50), 20));
}

TEST_F(space, an_exec_ends_what_was_there)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/sh", 0));
	ASSERT_EQ(0, execs(self->machine, 1, "x", 20));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x2000, 0x1000, "/ls", 20));
	EXPECT_STREQ("/sh", path_at(self->machine, 1, 19, 0x1000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 20, 0x1000));
	EXPECT_STREQ("/ls", path_at(self->machine, 1, 20, 0x2000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 19, 0x2000));
}

TEST_F(space, a_thread_in_execve_is_in_the_code_that_called_it_until_the_new_program_is_mapped)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/sh", 0));
	ASSERT_EQ(0, execs(self->machine, 1, "x", 20));
	EXPECT_STREQ("/sh", path_at(self->machine, 1, 20, 0x1000));
	machine__forget(self->machine, 25);
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x2000, 0x1000, "/ls", 30));
	EXPECT_STREQ("/sh", path_at(self->machine, 1, 29, 0x1000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 30, 0x1000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 29, 0x2000));
	machine__forget(self->machine, 30);
	EXPECT_STREQ("-", path_at(self->machine, 1, 29, 0x1000));
	EXPECT_STREQ("/ls", path_at(self->machine, 1, 30, 0x2000));
	/* The mappings of this one have been lost. */
	ASSERT_EQ(0, execs(self->machine, 1, "x", 40));
	EXPECT_STREQ("/ls", path_at(self->machine, 1, 40 + 99 * NSEC_PER_MSEC, 0x2000));
	EXPECT_STREQ("-", path_at(self->machine, 1, 40 + 100 * NSEC_PER_MSEC, 0x2000));
}

TEST_F(space, programs_of_which_no_mapping_comes_take_bounded_memory)
{
	uint64_t bytes = 0;

	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/sh", 0));
	for (uint64_t i = 1; i < 1000; i++) {
		ASSERT_EQ(0, execs(self->machine, 1, "x", i * NSEC_PER_SEC));
		machine__forget(self->machine, i * NSEC_PER_SEC);
		if (i == 3)
			bytes = machine__bytes(self->machine);
	}
	EXPECT_EQ(bytes, machine__bytes(self->machine));
}

TEST_F(space, what_proc_told_before_an_exec_does_not_get_into_the_new_program)
{
	ASSERT_EQ(0, execs(self->machine, 1, "x", 20));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x2000, 0x1000, "/ls", 20));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/sh", 0));
	EXPECT_STREQ("-", path_at(self->machine, 1, 30, 0x1000));
	EXPECT_STREQ("/ls", path_at(self->machine, 1, 30, 0x2000));
}

TEST_F(space, who_ended_is_known_until_it_is_forgotten)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 0));
	ends(self->machine, 1, 1, 10);
	machine__forget(self->machine, 9);
	EXPECT_STREQ("/a", path_at(self->machine, 1, 10, 0x1000));
	machine__forget(self->machine, 10);
	EXPECT_STREQ("-", path_at(self->machine, 1, 10, 0x1000));
}

TEST_F(space, a_pid_that_is_used_again_is_another_process)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 0));
	ASSERT_EQ(0, maps_code(self->machine, 2, 0x1000, 0x1000, "/b", 0));
	ends(self->machine, 2, 2, 10);
	ASSERT_EQ(0, forks(self->machine, 2, 1, 20));
	EXPECT_STREQ("/b", path_at(self->machine, 2, 12, 0x1000));
	EXPECT_STREQ("/a", path_at(self->machine, 2, 20, 0x1000));
	machine__forget(self->machine, 30);
	EXPECT_STREQ("/a", path_at(self->machine, 2, 30, 0x1000));
}

TEST_F(space, all_is_given_back_when_all_is_forgotten)
{
	uint64_t bytes = machine__bytes(self->machine);
	char path[32];

	for (int pid = 1; pid < 4000; pid++) {
		snprintf(path, sizeof(path), "/program-%d", pid);
		ASSERT_EQ(0, maps_code(self->machine, pid, 0x1000, 0x1000, path, 1));
		ASSERT_EQ(0, maps_code(self->machine, pid, 0x1000, 0x1000, "/again", 2));
		ASSERT_EQ(0, execs(self->machine, pid, "x", 3));
		ends(self->machine, pid, pid, 4);
	}
	machine__forget(self->machine, 5);
	EXPECT_EQ(bytes, machine__bytes(self->machine));
}

TEST_F(space, a_program_that_makes_code_without_end_takes_bounded_memory)
{
	uint64_t bytes;

	for (uint64_t i = 0; i < 6 * MAPS_MAX; i++)
		ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000 * (i % 64 + 1), 0x1000,
				       i & 64 ? "/a" : "/b", i));
	EXPECT_EQ(0, machine__refused(self->machine));
	for (uint64_t i = 64; i < 3 * MAPS_MAX; i++)
		ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000 * (i + 1), 0x1000, "/a", i));
	EXPECT_LT(0, machine__refused(self->machine));
	bytes = machine__bytes(self->machine);
	EXPECT_GT((2 * MAPS_MAX + 100) * sizeof(struct maps_entry), bytes);
}

TEST_F(space, a_program_with_too_much_code_costs_no_other_its_verdict)
{
	static const uint64_t ips[] = { 0x1100, 0x7000000 };

	ASSERT_EQ(0, maps_code(self->machine, 2, 0x1000, 0x1000, "/b", 0));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 0));
	EXPECT_EQ(1, keep_frames(self->machine, 1, 1, ips, 2));
	for (uint64_t i = 1; i < MAPS_MAX + 10; i++)
		ASSERT_EQ(0, maps_code(self->machine, 1, 0x10000000 + 0x1000 * i, 0x1000, "/a", i));
	ASSERT_EQ(0, forks(self->machine, 3, 1, 20000));
	ASSERT_EQ(0, maps_code(self->machine, 3, 0x1000, 0x800, "/b", 20001));
	/*
	 * Past the limit, addresses outside of the known mappings may be code, there and in a
	 * child.
	 */
	EXPECT_EQ(2, keep_frames(self->machine, 1, 30000, ips, 2));
	EXPECT_EQ(2, keep_frames(self->machine, 3, 30000, ips, 2));
	EXPECT_EQ(1, keep_frames(self->machine, 2, 30000, ips, 2));
	/* Another program has maps of its own. */
	ASSERT_EQ(0, execs(self->machine, 1, "x", 40000));
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/c", 40001));
	EXPECT_EQ(1, keep_frames(self->machine, 1, 50000, ips, 2));
}

TEST_F(space, a_mapping_that_is_told_again_takes_no_room)
{
	uint64_t bytes;

	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "//anon", 1));
	bytes = machine__bytes(self->machine);
	for (uint64_t i = 0; i < 100; i++)
		ASSERT_LE(0, maps_code(self->machine, 1, 0x1000, 0x1000, "//anon", i));
	EXPECT_EQ(bytes, machine__bytes(self->machine));
}

TEST_F(space, frames_are_kept_up_to_the_first_that_is_in_no_code)
{
	const uint64_t good[] = { 0x1000, 0x2000, 0x1800 };
	const uint64_t data[] = { 0x1000, 0x1800, 0x2001, 0x1800 };
	const uint64_t small[] = { 0x1000, 3, 0x1800 };
	const uint64_t zero[] = { 0x1000, 0, 0x1800 };
	const uint64_t lost[] = { 0x2000, 0x1800 };

	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "/a", 10));
	/* A return address behind the last byte belongs to the call before it. */
	EXPECT_EQ(3, keep_frames(self->machine, 1, 10, good, 3));
	EXPECT_EQ(2, keep_frames(self->machine, 1, 10, data, 4));
	EXPECT_EQ(1, keep_frames(self->machine, 1, 10, small, 3));
	EXPECT_EQ(1, keep_frames(self->machine, 1, 10, zero, 3));
	EXPECT_EQ(0, keep_frames(self->machine, 1, 10, lost, 2));
	EXPECT_EQ(0, keep_frames(self->machine, 1, 9, good, 3));
	EXPECT_EQ(0, keep_frames(self->machine, 1, 10, good, 0));
}

TEST_F(space, of_a_process_that_nothing_is_known_of_only_what_cannot_be_code_is_cut)
{
	const uint64_t ips[] = { 0x1000, 0x2000, (1ULL << 56) - 1 };
	const uint64_t low[] = { 0x1000, 0xfff, 0x2000 };
	const uint64_t high[] = { 0x1000, 0x2000, 1ULL << 56 };

	EXPECT_EQ(3, keep_frames(self->machine, 1, 10, ips, 3));
	EXPECT_EQ(1, keep_frames(self->machine, 1, 10, low, 3));
	EXPECT_EQ(2, keep_frames(self->machine, 1, 10, high, 3));
}

/* The model: for each page the history of the mappings that were reported. */
#define PAGES 64
#define TELLS 4000

struct told {
	uint64_t first, nr, time;
	const char *path;
};

static const char *expected(const struct told *told, size_t nr, uint64_t time, uint64_t page)
{
	const char *path = "-";

	/* Times rise: the last one that was not later than that is what is there. */
	for (size_t i = 0; i < nr && told[i].time <= time; i++) {
		if (page >= told[i].first && page < told[i].first + told[i].nr)
			path = told[i].path;
	}
	return path;
}

TEST_F(space, any_order_of_mappings_is_found_again_at_any_time)
{
	static const char *const paths[] = { "/a", "/b", "/c" };
	static struct told told[TELLS];
	unsigned int seed = 1;

	for (size_t i = 0; i < TELLS; i++) {
		told[i].first = (uint64_t)rand_r(&seed) % PAGES;
		told[i].nr = 1 + (uint64_t)rand_r(&seed) % (i % 7 ? 4 : 32);
		told[i].time = 10 + i / 2;
		told[i].path = paths[rand_r(&seed) % 3];
		ASSERT_LE(0, maps_code(self->machine, 1, 0x100000 + 0x1000 * told[i].first,
				       0x1000 * told[i].nr, told[i].path, told[i].time));
		if (i % 500 == 499)
			machine__forget(self->machine, told[i].time - 100);
		for (int look = 0; look < 8; look++) {
			/* No earlier than what was forgotten. */
			uint64_t time = told[i].time - (uint64_t)rand_r(&seed) % 100;
			uint64_t page = (uint64_t)rand_r(&seed) % PAGES;

			if (time > told[i].time)
				continue;
			ASSERT_STREQ(expected(told, i + 1, time, page),
				     path_at(self->machine, 1, time, 0x100000 + 0x1000 * page));
		}
	}
	EXPECT_EQ(0, machine__refused(self->machine));
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

TEST_F(space, a_flood_of_mappings_costs_each_a_time_that_hardly_grows_with_their_number)
{
	struct timespec begin, middle, end;
	double few, many;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (uint64_t i = 0; i < 100000; i++)
		maps_code(self->machine, 1, 0x100000 + 0x1000 * (i * 7 % 32), 0x1000,
			  i / 32 % 2 ? "/a" : "/b", i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &middle);
	for (uint64_t i = 0; i < 100000; i++)
		maps_code(self->machine, 2, 0x100000 + 0x1000 * (i * 7 % 8000), 0x1000,
			  i / 8000 % 2 ? "/a" : "/b", i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	few = seconds_between(&begin, &middle);
	many = seconds_between(&middle, &end);
	/* 250 times as many: looked through one by one, they would take some 100 times as long. */
	EXPECT_GT(20 * few, many) TH_LOG("%f s with few, %f s with many", few, many);
}

TEST_F(space, what_the_kernel_tells_again_is_known)
{
	ASSERT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x1000, "//anon", 1));
	EXPECT_EQ(1, maps_code(self->machine, 1, 0x1000, 0x1000, "//anon", 2));
	EXPECT_EQ(0, maps_code(self->machine, 1, 0x1000, 0x2000, "//anon", 3));
	ASSERT_EQ(0, forks(self->machine, 2, 1, 4));
	EXPECT_EQ(1, maps_code(self->machine, 2, 0x1000, 0x2000, "//anon", 5));
	EXPECT_EQ(process__maps_at(machine__process(self->machine, 1), 5),
		  process__maps_at(machine__process(self->machine, 2), 5));
}

TEST_HARNESS_MAIN
