/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/accounts.h"

#include "common/harness.h"

/* Each of them is a record that the kernel counted in a LOST record, or will. */
TEST(every_record_that_a_ring_refused_counts_once_whichever_program_sent_it)
{
	struct accounts_sums sums = {
		.blocks = { .lost_stacks = 10, .lost_reasons = 100, .lost_copies = 1000,
			    .lost_runs = 10000000 },
		.wakeups = { .lost_stacks = 100000, .lost_copies = 1000000 },
		.looks = { .lost_stacks = 100000000 },
	};

	sums.blocks.outcome[WIRE_OUTCOME_LOST_RING].count = 1;
	sums.wakeups.outcome[WIRE_OUTCOME_LOST_RING].count = 10000;
	sums.looks.outcome[WIRE_OUTCOME_LOST_RING].count = 1000000000;
	EXPECT_EQ(1111111111, accounts__lost_records(&sums));
}

/* For want of room in a map, without a ring that refused it. */
TEST(what_was_lost_elsewhere_is_no_record)
{
	struct accounts_sums sums = { .blocks = { .unseen = 3 }, .wakeups = { .full_stacks = 5 } };

	sums.blocks.outcome[WIRE_OUTCOME_LOST_INTERNAL].count = 7;
	sums.wakeups.outcome[WIRE_OUTCOME_LOST_INTERNAL].count = 9;
	EXPECT_EQ(0, accounts__lost_records(&sums));
}

TEST_HARNESS_MAIN
