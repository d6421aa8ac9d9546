/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of the report: whatever they are grouped by, their sums are the profile's. */
#include "report/rows.h"

#include <errno.h>

#include "common/example_profile.h"
#include "common/harness.h"
#include "machine/machine.h"
#include "report/thread_group.h"
#include "report/wait_words.h"

FIXTURE(rows)
{
	struct example_profile example;
	struct rows rows;
};

FIXTURE_SETUP(rows)
{
	self->example = (struct example_profile){ 0 };
	self->rows = (struct rows){ 0 };
	ASSERT_EQ(0, example_profile__make(&self->example));
}

FIXTURE_TEARDOWN(rows)
{
	rows__free(&self->rows);
	example_profile__free(&self->example);
}

TEST(keys)
{
	enum row_key keys[ROW_KEYS];

	EXPECT_EQ(1, row_keys__parse("tid", keys));
	EXPECT_EQ(ROW_TID, keys[0]);
	EXPECT_EQ(7, row_keys__parse("sym,wait,event,state,tid,pid,comm", keys));
	EXPECT_EQ(ROW_COMM, keys[6]);
	EXPECT_EQ(-EINVAL, row_keys__parse("", keys));
	EXPECT_EQ(-EINVAL, row_keys__parse("tid,", keys));
	EXPECT_EQ(-EINVAL, row_keys__parse("tid,comm,tid", keys));
	EXPECT_EQ(-EINVAL, row_keys__parse("ti", keys));
}

TEST_F(rows, add_up_to_all_by_each_key)
{
	const uint64_t total = profile__sum(self->example.profile, PROFILE_OFFCPU).ns +
			       profile__sum(self->example.profile, PROFILE_QUEUED).ns;
	const unsigned int events = 1 << PROFILE_OFFCPU | 1 << PROFILE_QUEUED;

	for (int key = 0; key < ROW_KEYS; key++) {
		const enum row_key keys[] = { (enum row_key)key };
		uint64_t ns = 0;

		ASSERT_EQ(0, rows__make(&self->rows, self->example.profile, events, keys, 1));
		for (size_t i = 0; i < self->rows.nr; i++) {
			ns += rows__at(&self->rows, i)->ns;
			EXPECT_TRUE(!i || rows__at(&self->rows, i - 1)->ns >=
						  rows__at(&self->rows, i)->ns);
		}
		EXPECT_EQ(total, ns);
		rows__free(&self->rows);
	}
}

TEST_F(rows, tell_who_waited_for_what_and_where)
{
	const enum row_key keys[] = { ROW_COMM, ROW_WAIT, ROW_SYM };
	const struct row *row;

	ASSERT_EQ(0, rows__make(&self->rows, self->example.profile,
				1 << PROFILE_OFFCPU | 1 << PROFILE_QUEUED, keys, 3));
	ASSERT_EQ(3, self->rows.nr);
	row = rows__at(&self->rows, 0);
	EXPECT_STREQ("wor ker", row->texts[0]);
	EXPECT_STREQ("file /x (read)", row->texts[1]);
	EXPECT_STREQ("main", row->texts[2]);
	EXPECT_EQ(0, row->longest);
	EXPECT_EQ(7, row->blocks);
	EXPECT_EQ(row->ns / 7, row->mean);
	row = rows__at(&self->rows, 1);
	EXPECT_STREQ("app", row->texts[0]);
	EXPECT_STREQ("read<\"char\">", row->texts[2]);
	EXPECT_EQ(130, row->ns);
	EXPECT_EQ(100, row->longest);
	EXPECT_EQ(0, row->mean);
	EXPECT_STREQ("a CPU", rows__at(&self->rows, 2)->texts[1]);
}

/* A function that serves many waits tells less about a wait than its callers do. */
TEST_F(rows, name_callers)
{
	const enum row_key keys[] = { ROW_CALLERS };

	ASSERT_EQ(0, rows__make(&self->rows, self->example.profile, 1 << PROFILE_OFFCPU, keys, 1));
	ASSERT_EQ(2, self->rows.nr);
	EXPECT_STREQ("main", rows__at(&self->rows, 0)->texts[0]);
	EXPECT_STREQ("read<\"char\"> < run;it < main", rows__at(&self->rows, 1)->texts[0]);
}

/* They would come first, though in most services they are threads that have nothing to do. */
TEST_F(rows, of_blocks_as_long_as_the_recording_come_last)
{
	const enum row_key keys[] = { ROW_TID };
	const struct sample samples[] = {
		{ .time = 1000000, .period = 990000, .count = 1, .tid = 1, .state = 'S' },
		{ .time = 500000, .period = 400000, .count = 1, .tid = 2, .state = 'S' },
		{ .time = 1000000, .period = 950000, .count = 9, .tid = 3, .state = 'S' },
	};
	struct profile *profile = profile__new(self->example.symbols, &self->example.filter);

	for (size_t i = 0; i < 3; i++)
		ASSERT_EQ(0, profile__add(profile, self->example.machine, &samples[i], NULL));
	EXPECT_EQ(990000, profile__span(profile));
	ASSERT_EQ(0, rows__make(&self->rows, profile, 1 << PROFILE_OFFCPU, keys, 1));
	ASSERT_EQ(3, self->rows.nr);
	EXPECT_STREQ("3 ", rows__at(&self->rows, 0)->texts[0]);
	EXPECT_FALSE(rows__at(&self->rows, 0)->whole);
	EXPECT_STREQ("2 ", rows__at(&self->rows, 1)->texts[0]);
	EXPECT_STREQ("1 ", rows__at(&self->rows, 2)->texts[0]);
	EXPECT_TRUE(rows__at(&self->rows, 2)->whole);
	profile__delete(profile);
}

/* Ten workers that wait for the same are one row, whatever their numbers. */
TEST_F(rows, of_threads_with_numbers_are_one)
{
	const enum row_key by_group[] = { ROW_GROUP }, by_name[] = { ROW_COMM };
	static char names[][16] = { "worker-1", "worker-12", "io", "io", "7/0:1", "alone-3" };
	struct profile *profile = profile__new(self->example.symbols, &self->example.filter);

	for (uint32_t i = 0; i < 6; i++) {
		const struct sample sample = { .time = 1000 * (i + 1), .period = 100 - i,
					       .count = 1, .tid = 10 + i, .state = 'S' };
		const struct task_event name = { .kind = TASK_EVENT_COMM, .pid = 10 + (int)i,
						 .tid = 10 + (int)i, .comm = names[i] };

		ASSERT_LE(0, machine__handle(self->example.machine, &name));
		ASSERT_EQ(0, profile__add(profile, self->example.machine, &sample, NULL));
	}
	ASSERT_EQ(0, rows__make(&self->rows, profile, 1 << PROFILE_OFFCPU, by_group, 1));
	ASSERT_EQ(4, self->rows.nr);
	EXPECT_STREQ("worker-* (2 threads)", rows__at(&self->rows, 0)->texts[0]);
	EXPECT_EQ(199, rows__at(&self->rows, 0)->ns);
	EXPECT_STREQ("io (2 threads)", rows__at(&self->rows, 1)->texts[0]);
	/* A name without others like it keeps its number. */
	EXPECT_STREQ("7/0:1", rows__at(&self->rows, 2)->texts[0]);
	EXPECT_STREQ("alone-3", rows__at(&self->rows, 3)->texts[0]);
	rows__free(&self->rows);
	ASSERT_EQ(0, rows__make(&self->rows, profile, 1 << PROFILE_OFFCPU, by_name, 1));
	ASSERT_EQ(5, self->rows.nr);
	EXPECT_STREQ("io", rows__at(&self->rows, 0)->texts[0]);
	profile__delete(profile);
}

TEST(groups_by_name)
{
	char text[32];

	EXPECT_STREQ("kworker/*:*-events", thread_group__of("kworker/12:0-events", text, 32));
	EXPECT_STREQ("*", thread_group__of("123", text, 32));
	EXPECT_STREQ("", thread_group__of("", text, 32));
	EXPECT_STREQ("ab", thread_group__of("abc1", text, 3));
}

TEST(words_of_reasons)
{
	struct reason lock = {
		.futex = true, .call = "futex", .futex_at = "pool+0x8", .owner_comm = "holder"
	};
	struct reason file = { .call = "write", .path = "/var/log/x" };
	struct reason pipe = { .call = "read", .path = "pipe:[123]" };
	struct reason peer = {
		.call = "recvfrom", .path = "socket:[9]", .local = "[::1]:1", .remote = "[::1]:2"
	};
	struct reason none = { .call = "futex", .futex = true };
	char out[WAIT_WORDS_MAX];

	EXPECT_STREQ("lock at pool+0x8, held by holder", wait_words__of_reason(&lock, out));
	*lock.owner_comm = '\0';
	EXPECT_STREQ("lock or condition at pool+0x8", wait_words__of_reason(&lock, out));
	EXPECT_STREQ("file /var/log/x (write)", wait_words__of_reason(&file, out));
	EXPECT_STREQ("a pipe (read)", wait_words__of_reason(&pipe, out));
	EXPECT_STREQ("socket to [::1]:2 (recvfrom)", wait_words__of_reason(&peer, out));
	EXPECT_EQ(NULL, wait_words__of_reason(&none, out));
}

/* The table is searched from the leaf on, but for what tells more than the leaf does. */
TEST(words_of_kernel_functions)
{
	static const char *const swap[] = { "io_schedule", "folio_wait_bit_common", "do_swap_page",
					    "handle_mm_fault", "asm_exc_page_fault" };
	static const char *const page[] = { "io_schedule", "filemap_fault", "asm_exc_page_fault" };
	static const char *const call[] = { "hrtimer_nanosleep", "__x64_sys_clock_nanosleep" };
	static const char *const other[] = { "some_driver_wait", "ret_from_fork" };
	static const char *const stop[] = { "do_signal_stop", "get_signal" };
	char out[WAIT_WORDS_MAX];

	EXPECT_STREQ("swap", wait_words__of_functions(swap, 5, out));
	EXPECT_STREQ("the disk", wait_words__of_functions(page, 3, out));
	EXPECT_STREQ("a timer (clock_nanosleep)", wait_words__of_functions(call, 2, out));
	EXPECT_STREQ("the kernel (some_driver_wait)", wait_words__of_functions(other, 2, out));
	EXPECT_STREQ("a signal to continue", wait_words__of_functions(stop, 2, out));
	EXPECT_STREQ("unknown", wait_words__of_functions(NULL, 0, out));
}

TEST_HARNESS_MAIN
