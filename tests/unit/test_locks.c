/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits on futexes, added up by process and address. */
#include "report/locks.h"

#include <stdio.h>

#include "common/harness.h"

static int add(struct locks *locks, uint32_t tid, uint64_t address, uint64_t ns, uint64_t count,
	       const char *owner)
{
	struct reason reason = { .futex = true, .args = { address } };
	const struct sample sample = {
		.pid = 10 + tid / 100, .tid = tid, .period = ns, .count = count, .reason = &reason
	};

	snprintf(reason.owner_comm, sizeof(reason.owner_comm), "%s", owner);
	snprintf(reason.futex_at, sizeof(reason.futex_at), "%s", address == 8 ? "pool+0x8" : "");
	return locks__add(locks, &sample, "app");
}

TEST(locks_by_process_and_address)
{
	struct locks locks = { 0 };
	const struct lock *lock;

	ASSERT_EQ(0, add(&locks, 1, 8, 100, 1, "holder"));
	ASSERT_EQ(0, add(&locks, 2, 8, 50, 5, "other"));
	ASSERT_EQ(0, add(&locks, 2, 8, 70, 1, "other"));
	ASSERT_EQ(0, add(&locks, 3, 8, 1, 1, ""));
	ASSERT_EQ(0, add(&locks, 1, 16, 300, 2, ""));
	ASSERT_EQ(0, add(&locks, 101, 8, 10, 1, ""));
	locks__sort(&locks);
	ASSERT_EQ(3, locks__nr(&locks));
	lock = locks__at(&locks, 0);
	EXPECT_EQ(16, lock->address);
	EXPECT_EQ(300, lock->ns);
	EXPECT_EQ(0, lock->longest);
	EXPECT_EQ(150, lock->mean);
	EXPECT_STREQ("", lock->object);
	EXPECT_EQ(NULL, lock__most_of(&lock->owners));
	lock = locks__at(&locks, 1);
	EXPECT_EQ(221, lock->ns);
	EXPECT_EQ(8, lock->blocks);
	EXPECT_EQ(100, lock->longest);
	EXPECT_EQ(10, lock->mean);
	EXPECT_EQ(3, lock->waiters.used);
	EXPECT_STREQ("pool+0x8", lock->object);
	EXPECT_STREQ("other", lock__most_of(&lock->owners));
	EXPECT_STREQ("app", lock->process);
	EXPECT_EQ(11, locks__at(&locks, 2)->pid);
	locks__free(&locks);
}

/* By when the block began, which both samples tell. */
TEST(a_lock_is_released_by_the_thread_that_ended_the_wait)
{
	struct locks locks = { 0 };
	struct reason reason = { .futex = true, .args = { 8 } };
	struct sample wakeup = { .kind = SAMPLE_WAKEUP, .time = 1000, .period = 400, .count = 1 };
	struct sample block = {
		.pid = 1, .tid = 2, .time = 1010, .period = 410, .count = 1, .reason = &reason
	};

	ASSERT_EQ(0, locks__add_wakeup(&locks, &wakeup, "holder"));
	ASSERT_EQ(0, locks__add(&locks, &block, "app"));
	EXPECT_STREQ("holder", lock__most_of(&locks__at(&locks, 0)->releasers));
	/*
	 * A sum of wake-ups belongs to no single wait; a block with another begin is another wait.
	 */
	wakeup.time = 3000;
	wakeup.count = 2;
	ASSERT_EQ(0, locks__add_wakeup(&locks, &wakeup, "sum"));
	block.time = 9010;
	block.period = 6410;
	ASSERT_EQ(0, locks__add(&locks, &block, "app"));
	EXPECT_STREQ("holder", lock__most_of(&locks__at(&locks, 0)->releasers));
	EXPECT_EQ(1, locks__at(&locks, 0)->releasers.used);
	locks__free(&locks);
}

TEST(what_is_no_wait_on_a_futex_adds_nothing)
{
	struct locks locks = { 0 };
	struct reason reason = { .fd = 3 };
	const struct sample plain = { .pid = 1, .period = 1 };
	const struct sample file = { .pid = 1, .period = 1, .reason = &reason };

	EXPECT_EQ(0, locks__add(&locks, &plain, "app"));
	EXPECT_EQ(0, locks__add(&locks, &file, "app"));
	EXPECT_EQ(0, locks__nr(&locks));
	locks__free(&locks);
}

TEST_HARNESS_MAIN
