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

static struct rules_key file_of(uint64_t ino)
{
	return (struct rules_key){ .ino = ino, .dev = 8 << 20 };
}

static void add(data *self, uint64_t ino, pid_t pid)
{
	const struct rules_key file = file_of(ino);

	new_code__add(&self->new_code, &file, pid);
}

static bool is_settled(const data *self, uint64_t ino)
{
	const struct rules_key file = file_of(ino);

	return new_code__is_settled(&self->new_code, &file);
}

/* Begins a list, if one is to begin. Returns of how many processes. */
static size_t list(data *self, uint64_t now)
{
	size_t nr = self->new_code.nr_pids;

	if (!new_code__wants_list(&self->new_code, now))
		return 0;
	memcpy(self->pids, self->new_code.pids, sizeof(self->pids));
	new_code__take(&self->new_code, now);
	return nr;
}

/* 1: the process is to be listed, and nothing else is. */
static int wants_list(data *self, uint64_t ino, pid_t pid, uint64_t now)
{
	if (is_settled(self, ino))
		return 0;
	add(self, ino, pid);
	return list(self, now) == 1 && self->pids[0] == pid;
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

TEST_F(new_code, processes_that_wait_for_one_list_are_one_try)
{
	for (pid_t pid = 1; pid <= 10 * NEW_CODE_TRIES; pid++)
		add(self, 7, pid);
	EXPECT_FALSE(is_settled(self, 7));
	for (int tries = 1; tries < NEW_CODE_TRIES; tries++) {
		EXPECT_LT(0, list(self, NOW));
		EXPECT_FALSE(is_settled(self, 7));
		add(self, 7, 100);
	}
	EXPECT_TRUE(is_settled(self, 7));
}

TEST_F(new_code, a_file_whose_table_is_there_is_no_reason_for_a_list)
{
	const struct rules_key file = file_of(7);
	struct rules_key other = file;

	new_code__settle(&self->new_code, &file);
	EXPECT_TRUE(new_code__is_settled(&self->new_code, &file));
	other.generation = 1;
	EXPECT_FALSE(new_code__is_settled(&self->new_code, &other));
	other = file;
	other.dev++;
	EXPECT_FALSE(new_code__is_settled(&self->new_code, &other));
}

/* In which of the sets a file is remembered. */
static size_t set_of(uint64_t ino)
{
	static struct new_code alone;
	const struct rules_key file = file_of(ino);
	size_t at = 0;

	memset(&alone, 0, sizeof(alone));
	new_code__settle(&alone, &file);
	while (alone.files[at].file.ino != ino)
		at++;
	return at / 2;
}

/* The next file that is remembered in the set of a file. */
static uint64_t next_of_set(uint64_t ino)
{
	size_t set = set_of(ino);

	do
		ino++;
	while (set_of(ino) != set);
	return ino;
}

TEST_F(new_code, two_files_of_a_set_are_remembered_and_of_three_the_latest)
{
	const uint64_t second = next_of_set(1), third = next_of_set(second);
	const struct rules_key file = file_of(1);

	new_code__settle(&self->new_code, &file);
	add(self, second, 5);
	EXPECT_TRUE(is_settled(self, 1));
	EXPECT_EQ(1, list(self, NOW));
	/* It is known by now, and so drives out none. */
	for (int tries = 1; tries < NEW_CODE_TRIES; tries++)
		EXPECT_EQ(1, wants_list(self, second, 5, NOW));
	EXPECT_TRUE(is_settled(self, second));
	EXPECT_TRUE(is_settled(self, 1));
	add(self, third, 5);
	EXPECT_FALSE(is_settled(self, 1));
	EXPECT_TRUE(is_settled(self, second));
}

TEST_F(new_code, a_process_is_listed_once_for_all_that_it_has_mapped)
{
	for (uint64_t ino = 1; ino <= 100; ino++)
		add(self, ino, 5);
	EXPECT_EQ(1, list(self, NOW));
	EXPECT_EQ(5, self->pids[0]);
	EXPECT_EQ(0, list(self, NOW));
}

TEST_F(new_code, where_there_is_no_room_for_all_processes_the_latest_are_listed)
{
	for (pid_t pid = 1; pid <= NEW_CODE_PIDS + 3; pid++)
		add(self, (uint64_t)pid, pid);
	/* One that is there already takes no room. */
	add(self, 1000, 5);
	EXPECT_EQ(NEW_CODE_PIDS, list(self, NOW));
	for (pid_t i = 0; i < NEW_CODE_PIDS; i++)
		EXPECT_EQ(4 + i, self->pids[i]);
}

/* As before they are taken no process can be made for them. */
TEST_F(new_code, processes_that_are_not_taken_are_to_be_listed_later)
{
	uint64_t later = NOW + NSEC_PER_SEC;

	add(self, 7, 5);
	EXPECT_TRUE(new_code__wants_list(&self->new_code, NOW));
	new_code__listed(&self->new_code, false, NOW);
	EXPECT_FALSE(new_code__wants_list(&self->new_code, NOW));
	add(self, 7, 6);
	EXPECT_EQ(2, list(self, later));
	EXPECT_EQ(5, self->pids[0]);
	EXPECT_EQ(6, self->pids[1]);
}

/* How long, in ms, until the next list, of one process; -1: it comes at another time. */
static int wait_for_list(data *self, uint64_t *now)
{
	static uint64_t ino;
	int ms;

	add(self, ++ino, 5);
	/* Rings need not be read meanwhile. */
	self->new_code.expected = false;
	ms = new_code__timeout(&self->new_code, true, *now);
	if (ms < 0 || (ms && list(self, *now + (uint64_t)(ms - 1) * NSEC_PER_MSEC)))
		return -1;
	*now += (uint64_t)ms * NSEC_PER_MSEC;
	return list(self, *now) == 1 ? ms : -1;
}

TEST_F(new_code, lists_that_bring_nothing_become_rare)
{
	static const int pauses[] = { 50, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000 };
	uint64_t now = NOW;

	EXPECT_EQ(0, wait_for_list(self, &now));
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		new_code__listed(&self->new_code, false, now);
		EXPECT_EQ(pauses[i], wait_for_list(self, &now));
	}
	/* Until one brings something. */
	new_code__listed(&self->new_code, true, now);
	EXPECT_EQ(0, wait_for_list(self, &now));
	new_code__listed(&self->new_code, false, now);
	EXPECT_EQ(50, wait_for_list(self, &now));
	/* A pause is one since the last list. */
	new_code__listed(&self->new_code, false, now);
	now += NSEC_PER_SEC;
	EXPECT_EQ(0, wait_for_list(self, &now));
}

/* As on overlays: no table is ever found by the key of a record. */
TEST_F(new_code, files_that_seem_to_be_new_for_ever_cost_few_lists)
{
	int lists = 0;

	for (uint64_t ino = 1; ino <= 100000; ino++) {
		uint64_t now = NOW + ino * NSEC_PER_MSEC;

		add(self, ino, (pid_t)ino);
		if (!list(self, now))
			continue;
		new_code__listed(&self->new_code, false, now);
		lists++;
	}
	/* Of 100 s. */
	EXPECT_LE(10, lists);
	EXPECT_GE(20, lists);
}

TEST_F(new_code, a_list_that_has_to_wait_is_not_waited_for_while_another_is_under_way)
{
	add(self, 7, 5);
	self->new_code.expected = false;
	EXPECT_EQ(0, new_code__timeout(&self->new_code, true, NOW));
	EXPECT_EQ(-1, new_code__timeout(&self->new_code, false, NOW));
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
	EXPECT_EQ(NEW_CODE_PIDS, list(self, NOW + 2 * NSEC_PER_SEC));
	EXPECT_EQ(1, wants_list(self, 100001, 5, NOW + 2 * NSEC_PER_SEC));
}

TEST_F(new_code, nothing_is_looked_for_in_a_calm_recording)
{
	EXPECT_EQ(-1, new_code__timeout(&self->new_code, true, NOW));
	new_code__look(&self->new_code, NOW);
	EXPECT_EQ(-1, new_code__timeout(&self->new_code, true, NOW));
}

/* Lets time pass until there is no hurry any more. Returns the looks; *took: how long, in ms. */
static int look_to_the_end(data *self, uint64_t *now, int *took)
{
	int looks = 0, ms;

	*took = 0;
	while ((ms = new_code__timeout(&self->new_code, true, *now)) >= 0 && looks < 1000) {
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
	EXPECT_GE(3, new_code__timeout(&self->new_code, false, now));
	EXPECT_LE(0, new_code__timeout(&self->new_code, false, now));
	EXPECT_GE(10, look_to_the_end(self, &now, &took));
	EXPECT_LE(50, took);
	EXPECT_GE(250, took);
}

TEST_F(new_code, a_look_that_comes_early_does_not_put_off_the_next_one)
{
	int before;

	new_code__expect(&self->new_code);
	new_code__look(&self->new_code, NOW);
	before = new_code__timeout(&self->new_code, true, NOW);
	for (int i = 0; i < 10; i++)
		new_code__look(&self->new_code, NOW);
	EXPECT_EQ(before, new_code__timeout(&self->new_code, true, NOW));
}

TEST_F(new_code, more_code_in_each_reading_costs_so_many_readings_a_second)
{
	uint64_t now = NOW;
	int readings = 0;

	/* Each of them is by a timeout, and brings more. */
	new_code__expect(&self->new_code);
	for (uint64_t ino = 1; now < NOW + NSEC_PER_SEC; ino++) {
		int ms = new_code__timeout(&self->new_code, false, now);

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
