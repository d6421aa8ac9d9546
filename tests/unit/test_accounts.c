/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/accounts.h"

#include "common/harness.h"

/* Each of them is a record that the kernel counted in a LOST record, or will. */
TEST(every_record_that_a_ring_refused_counts_once_whichever_program_sent_it)
{
	struct wire_accounts sum = { .lost_stacks = 10, .lost_reasons = 100, .lost_copies = 1000 };
	struct wire_accounts wakeups = { .lost_stacks = 100000, .lost_copies = 1000000 };

	sum.outcome[WIRE_OUTCOME_LOST_RING].count = 1;
	wakeups.outcome[WIRE_OUTCOME_LOST_RING].count = 10000;
	EXPECT_EQ(1111111, accounts__lost_records(&sum, &wakeups));
}

/* For want of room in a map, without a ring that refused it. */
TEST(what_was_lost_elsewhere_is_no_record)
{
	struct wire_accounts sum = { .unseen = 3 }, wakeups = { .full_stacks = 5 };

	sum.outcome[WIRE_OUTCOME_LOST_INTERNAL].count = 7;
	wakeups.outcome[WIRE_OUTCOME_LOST_INTERNAL].count = 9;
	EXPECT_EQ(0, accounts__lost_records(&sum, &wakeups));
}

TEST_HARNESS_MAIN
