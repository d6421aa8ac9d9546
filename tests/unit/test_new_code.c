/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes are listed for code that they have mapped, and when rings are read for more. */
#include "capture/new_code.h"

#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "common/harness.h"
#include "common/machine_events.h"

/* A time of clock__now_ns(). */
#define NOW (1000 * NSEC_PER_SEC)

FIXTURE(new_code)
{
	struct new_code new_code;
	pid_t pids[NEW_CODE_PIDS];
};

FIXTURE_SETUP(new_code)
{
	memset(&self->new_code, 0, sizeof(self->new_code));
}

FIXTURE_TEARDOWN(new_code)
{
}

typedef FIXTURE_DATA(new_code) data;

/* 1: the process is to be listed, and nothing else is. */
static int wants_list(data *self, uint64_t ino, pid_t pid, uint64_t now)
{
	const struct rules_key file = { .ino = ino, .dev = 8 << 20 };

	if (new_code__is_settled(&self->new_code, &file))
		return 0;
	new_code__add(&self->new_code, &file, pid);
	return new_code__take(&self->new_code, self->pids, now) == 1 && self->pids[0] == pid;
}

TEST_F(new_code, a_file_has_the_device_as_the_kernel_packs_it)
{
	struct task_event event = mapping(5, 0x1000, 0x1000, "/lib/c", 1);
	struct rules_key file;

	event.map.maj = 259;
	event.map.min = 70000;
	event.map.ino = 1ULL << 40;
	event.map.generation = 0xfedcba98;
	ASSERT_TRUE(new_code__file(&event, &file));
	EXPECT_EQ(259U << 20 | 70000, file.dev);
	EXPECT_EQ(1ULL << 40, file.ino);
	EXPECT_EQ(0xfedcba98, file.generation);
}

TEST_F(new_code, what_is_no_code_of_a_file_is_none)
{
	struct task_event event = mapping(5, 0x1000, 0x1000, "//anon", 1);
	struct rules_key file;

	EXPECT_FALSE(new_code__file(&event, &file));
	event = mapping(5, 0x1000, 0x1000, "/lib/c", 1);
	EXPECT_TRUE(new_code__file(&event, &file));
	event.map.prot = PROT_READ;
	EXPECT_FALSE(new_code__file(&event, &file));
	event.map.prot = PROT_READ | PROT_EXEC;
	event.map.data = true;
	EXPECT_FALSE(new_code__file(&event, &file));
	event.map.data = false;
	event.kind = TASK_EVENT_EXEC;
	EXPECT_FALSE(new_code__file(&event, &file));
}

TEST_F(new_code, processes_that_map_a_file_are_listed_until_some_have_been)
{
	for (pid_t pid = 1; pid <= NEW_CODE_TRIES; pid++)
		EXPECT_EQ(1, wants_list(self, 7, pid, NOW));
	EXPECT_EQ(0, wants_list(self, 7, 100, NOW));
	/* Another file is another reason. */
	EXPECT_EQ(1, wants_list(self, 8, 100, NOW));
	EXPECT_EQ(0, wants_list(self, 7, 100, NOW));
}

TEST_F(new_code, a_file_whose_table_is_there_is_no_reason_for_a_list)
{
	const struct rules_key file = { .ino = 7, .dev = 8 << 20 };
	struct rules_key other = file;

	new_code__settle(&self->new_code, &file);
	EXPECT_TRUE(new_code__is_settled(&self->new_code, &file));
	other.generation = 1;
	EXPECT_FALSE(new_code__is_settled(&self->new_code, &other));
	other = file;
	other.dev++;
	EXPECT_FALSE(new_code__is_settled(&self->new_code, &other));
}

TEST_F(new_code, a_process_is_listed_once_for_all_that_it_has_mapped)
{
	for (uint64_t ino = 1; ino <= 100; ino++) {
		const struct rules_key file = { .ino = ino };

		new_code__add(&self->new_code, &file, 5);
	}
	EXPECT_EQ(1, new_code__take(&self->new_code, self->pids, NOW));
	EXPECT_EQ(5, self->pids[0]);
	EXPECT_EQ(0, new_code__take(&self->new_code, self->pids, NOW));
}

TEST_F(new_code, a_process_for_which_there_is_no_room_may_come_again)
{
	const struct rules_key late = { .ino = 1000 };

	for (pid_t pid = 1; pid <= NEW_CODE_PIDS; pid++) {
		const struct rules_key file = { .ino = (uint64_t)pid };

		new_code__add(&self->new_code, &file, pid);
	}
	for (int i = 0; i < 10 * NEW_CODE_TRIES; i++)
		new_code__add(&self->new_code, &late, 1000);
	EXPECT_FALSE(new_code__is_settled(&self->new_code, &late));
	EXPECT_EQ(NEW_CODE_PIDS, new_code__take(&self->new_code, self->pids, NOW));
	new_code__add(&self->new_code, &late, 1000);
	EXPECT_EQ(1, new_code__take(&self->new_code, self->pids, NOW));
	EXPECT_EQ(1000, self->pids[0]);
}

/* As a build makes them, each with programs of its own. */
TEST_F(new_code, however_much_is_mapped_there_are_so_many_lists_a_second)
{
	int lists = 0;

	for (uint64_t ino = 1; ino <= 100000; ino++)
		lists += wants_list(self, ino, (pid_t)ino, NOW + ino * 10 * NSEC_PER_USEC);
	/* The second begins with the first of them. */
	EXPECT_EQ(NEW_CODE_LISTS, lists);
	EXPECT_FALSE(new_code__wants_list(&self->new_code, NOW + NSEC_PER_SEC));
	/* Some wait for the next one, and leave room. */
	EXPECT_TRUE(new_code__wants_list(&self->new_code, NOW + 2 * NSEC_PER_SEC));
	EXPECT_EQ(NEW_CODE_PIDS,
		  new_code__take(&self->new_code, self->pids, NOW + 2 * NSEC_PER_SEC));
	EXPECT_EQ(1, wants_list(self, 100001, 5, NOW + 2 * NSEC_PER_SEC));
}

TEST_F(new_code, nothing_is_looked_for_in_a_calm_recording)
{
	EXPECT_EQ(-1, new_code__timeout(&self->new_code, NOW));
	new_code__look(&self->new_code, NOW);
	EXPECT_EQ(-1, new_code__timeout(&self->new_code, NOW));
}

/* Lets time pass until there is no hurry any more. Returns the looks; *took: how long, in ms. */
static int look_to_the_end(data *self, uint64_t *now, int *took)
{
	int looks = 0, ms;

	*took = 0;
	while ((ms = new_code__timeout(&self->new_code, *now)) >= 0 && looks < 1000) {
		*now += (uint64_t)ms * NSEC_PER_MSEC;
		*took += ms;
		new_code__look(&self->new_code, *now);
		looks++;
	}
	return looks;
}

TEST_F(new_code, after_code_was_mapped_rings_are_read_soon_and_then_ever_more_seldom)
{
	uint64_t now = NOW;
	int took;

	new_code__expect(&self->new_code);
	EXPECT_GE(3, new_code__timeout(&self->new_code, now));
	EXPECT_LE(0, new_code__timeout(&self->new_code, now));
	EXPECT_GE(10, look_to_the_end(self, &now, &took));
	EXPECT_LE(50, took);
	EXPECT_GE(250, took);
}

TEST_F(new_code, a_look_that_comes_early_does_not_put_off_the_next_one)
{
	int before;

	new_code__expect(&self->new_code);
	new_code__look(&self->new_code, NOW);
	before = new_code__timeout(&self->new_code, NOW);
	for (int i = 0; i < 10; i++)
		new_code__look(&self->new_code, NOW);
	EXPECT_EQ(before, new_code__timeout(&self->new_code, NOW));
}

TEST_F(new_code, more_code_in_each_reading_costs_so_many_readings_a_second)
{
	uint64_t now = NOW;
	int readings = 0;

	/* Each of them is by a timeout, and brings more. */
	new_code__expect(&self->new_code);
	for (uint64_t ino = 1; now < NOW + NSEC_PER_SEC; ino++) {
		int ms = new_code__timeout(&self->new_code, now);

		/* Then it comes when the rings are read for another reason. */
		now += ms < 0 ? 100 * NSEC_PER_MSEC : (uint64_t)ms * NSEC_PER_MSEC;
		readings += ms >= 0;
		new_code__look(&self->new_code, now);
		wants_list(self, ino, 5, now);
	}
	EXPECT_LE(NEW_CODE_LOOKS, readings);
	EXPECT_GE(2 * NEW_CODE_LOOKS + 2, readings);
}

TEST_HARNESS_MAIN
