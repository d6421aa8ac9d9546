/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/harness.h"

#include "capture/idle.h"
#include "capture/wait_place.h"

static const char symbols[] = "ffffffff80000100 T schedule_timeout\n"
			      "ffffffff80000200 t inet_csk_accept\n"
			      "ffffffff80000300 t __mutex_lock.constprop.0\n"
			      "ffffffff80000400 T __x64_sys_accept4\n"
			      "ffffffff80000500 T __x64_sys_futex\n"
			      "ffffffff80000600 t n_tty_read\n"
			      "ffffffff80000700 T asm_exc_page_fault\n"
			      "ffffffff80000800 T vfs_read\n"
			      "ffffffff80000900 t ep_poll.part.0\n";

FIXTURE(places)
{
	struct idle_table table;
	struct wait_places places;
};

FIXTURE_SETUP(places)
{
	char path[] = "/tmp/denet-places-XXXXXX";
	struct kallsyms *kallsyms;
	int fd = mkstemp(path), err;

	ASSERT_LE(0, fd);
	ASSERT_EQ((ssize_t)sizeof(symbols) - 1, write(fd, symbols, sizeof(symbols) - 1));
	kallsyms = kallsyms__new(path, &err);
	close(fd);
	unlink(path);
	ASSERT_NE(NULL, kallsyms);
	ASSERT_EQ(0, idle_table__init(&self->table));
	self->places = (struct wait_places){ 0 };
	ASSERT_EQ(0, wait_places__init(&self->places, kallsyms, &self->table));
	/* They are not needed any more. */
	kallsyms__delete(kallsyms);
}

FIXTURE_TEARDOWN(places)
{
	wait_places__free(&self->places);
	idle_table__free(&self->table);
}

TEST_F(places, a_chain_tells_its_call_and_the_function_behind_the_timers)
{
	const uint64_t ips[] = { 0xffffffff80000110, 0xffffffff80000601, 0xffffffff80000805,
				 0xffffffff80000420 };
	const struct frames frames = { ips, 4, false };
	struct wait_place place = wait_places__find(&self->places, &frames);

	EXPECT_STREQ("accept4", place.call);
	EXPECT_STREQ("n_tty_read", place.leaf);
	EXPECT_FALSE(place.fault);
}

TEST_F(places, what_no_rule_names_is_not_known)
{
	const uint64_t ips[] = { 0xffffffff80000801, 0xffffffff80000501 };
	const struct frames frames = { ips, 2, false }, none = { NULL, 0, false };
	struct wait_place place = wait_places__find(&self->places, &frames);

	EXPECT_EQ(NULL, place.call);
	EXPECT_EQ(NULL, place.leaf);
	EXPECT_STREQ("futex", place.entry);
	place = wait_places__find(&self->places, &none);
	EXPECT_TRUE(!place.call && !place.leaf && !place.fault);
}

TEST_F(places, locks_and_page_faults_are_known_whatever_the_rules)
{
	const uint64_t ips[] = { 0xffffffff80000310, 0xffffffff80000705, 0xffffffff80000401 };
	const struct frames frames = { ips, 3, false };
	struct wait_place place = wait_places__find(&self->places, &frames);

	EXPECT_STREQ("__mutex_lock", place.leaf);
	EXPECT_TRUE(idle__is_lock(place.leaf));
	EXPECT_TRUE(place.fault);
	EXPECT_STREQ("accept4", place.call);
	EXPECT_FALSE(place.for_any);
}

TEST_F(places, event_loops_are_known_though_no_rule_names_them)
{
	const uint64_t ips[] = { 0xffffffff80000110, 0xffffffff80000905 };
	const struct frames frames = { ips, 2, false };
	struct wait_place place = wait_places__find(&self->places, &frames);

	EXPECT_TRUE(place.for_any);
	EXPECT_TRUE(!place.call && !place.leaf && !place.fault);
}

TEST_HARNESS_MAIN
