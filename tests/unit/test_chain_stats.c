/* SPDX-License-Identifier: GPL-2.0-only */
/* Which programs have chains that are not whole, for how long and why. */
#include "common/harness.h"
#include "common/machine_events.h"

#include <stdio.h>

#include "callchain/chain_stats.h"

TEST(the_worst_program_has_most_time_in_broken_chains)
{
	struct chain_stats stats = { 0 };
	const struct chain_program *worst;

	EXPECT_EQ(NULL, chain_stats__worst(&stats));
	chain_stats__add(&stats, "whole", 1, CHAIN_WHOLE, 900);
	chain_stats__add(&stats, "half", 2, CHAIN_NO_CFI, 50);
	chain_stats__add(&stats, "half", 2, CHAIN_WHOLE, 60);
	/* Less than half of its own time, and less than a tenth of all. */
	EXPECT_EQ(NULL, chain_stats__worst(&stats));
	chain_stats__add(&stats, "little", 3, CHAIN_NO_CFI, 99);
	EXPECT_EQ(NULL, chain_stats__worst(&stats));
	chain_stats__add(&stats, "postgres", 4, CHAIN_NO_CFI, 200);
	chain_stats__add(&stats, "postgres", 4, CHAIN_WHOLE, 100);
	worst = chain_stats__worst(&stats);
	ASSERT_NE(NULL, worst);
	EXPECT_STREQ("postgres", worst->comm);
	EXPECT_EQ(300, worst->ns);
	EXPECT_EQ(200, worst->broken_ns);
	EXPECT_EQ(1409, stats.ns);
}

TEST(more_names_than_there_is_room_for_are_added_up)
{
	struct chain_stats stats = { 0 };
	const struct chain_program *list[CHAIN_STATS_NAMES];

	for (int i = 0; i < 2 * CHAIN_STATS_NAMES; i++) {
		char comm[24];

		snprintf(comm, sizeof(comm), "other%d", i);
		chain_stats__add(&stats, comm, 6, CHAIN_NO_TABLE, 100);
	}
	/* None has a tenth of the time, and all names together are no program. */
	EXPECT_EQ(NULL, chain_stats__worst(&stats));
	EXPECT_EQ(CHAIN_STATS_NAMES, stats.nr);
	EXPECT_EQ(CHAIN_STATS_NAMES, chain_stats__list(&stats, list));
	EXPECT_EQ(100 * CHAIN_STATS_NAMES, stats.rest.broken_ns);
	EXPECT_EQ(100 * CHAIN_STATS_NAMES, stats.rest.by_end[CHAIN_NO_TABLE]);
	/* A name that is known goes on. */
	chain_stats__add(&stats, "other0", 6, CHAIN_WHOLE, 5);
	EXPECT_EQ(105, stats.programs[0].ns);
}

TEST(processes_of_a_name_are_told_apart_up_to_a_number)
{
	struct chain_stats stats = { 0 };
	const struct chain_program *program = &stats.programs[0];

	chain_stats__add(&stats, "a", 1, CHAIN_WHOLE, 1);
	EXPECT_EQ(0, program->nr_pids);
	for (int i = 0; i < 3; i++)
		chain_stats__add(&stats, "a", 2 + i % 2, CHAIN_BUSY, 1);
	EXPECT_EQ(2, program->nr_pids);
	EXPECT_EQ(2, program->pids[0]);
	for (int i = 0; i < 3 * CHAIN_STATS_PIDS; i++)
		chain_stats__add(&stats, "a", 10 + i, CHAIN_BUSY, 1);
	EXPECT_EQ(CHAIN_STATS_PIDS + 1, program->nr_pids);
}

TEST(programs_are_listed_by_their_time_in_broken_chains)
{
	static const char *const order[] = { "most", "less", "last" };
	const struct chain_program *list[CHAIN_STATS_NAMES];
	struct chain_stats stats = { 0 };

	EXPECT_EQ(0, chain_stats__list(&stats, list));
	chain_stats__add(&stats, "less", 1, CHAIN_NO_CFI, 20);
	chain_stats__add(&stats, "whole", 2, CHAIN_WHOLE, 900);
	chain_stats__add(&stats, "most", 3, CHAIN_NO_CFI, 30);
	chain_stats__add(&stats, "last", 4, CHAIN_NO_CFI, 10);
	ASSERT_EQ(3, chain_stats__list(&stats, list));
	for (int i = 0; i < 3; i++)
		EXPECT_STREQ(order[i], list[i]->comm);
}

TEST(the_main_reason_is_that_of_most_time)
{
	struct chain_stats stats = { 0 };

	chain_stats__add(&stats, "a", 1, CHAIN_WHOLE, 100);
	EXPECT_EQ(CHAIN_WHOLE, chain_program__main_end(&stats.programs[0]));
	chain_stats__add(&stats, "a", 1, CHAIN_UNREADABLE, 5);
	chain_stats__add(&stats, "a", 1, CHAIN_NO_TABLE, 3);
	chain_stats__add(&stats, "a", 1, CHAIN_NO_TABLE, 3);
	EXPECT_EQ(CHAIN_NO_TABLE, chain_program__main_end(&stats.programs[0]));
	EXPECT_EQ(11, stats.programs[0].broken_ns);
}

TEST(a_sample_counts_for_the_name_of_its_process_at_its_time)
{
	static const uint64_t ips[] = { 1, 2 };
	struct sample sample = { .time = 100, .period = 7, .pid = 42, .tid = 43,
				 .user = { ips, 2, false }, .user_end = CHAIN_NO_RULE };
	struct machine *machine = machine__new();
	struct chain_stats stats = { 0 };

	ASSERT_NE(NULL, machine);
	ASSERT_LE(0, is_called(machine, 42, 42, "before", 10));
	ASSERT_LE(0, is_called(machine, 42, 42, "after", 150));
	ASSERT_LE(0, is_called(machine, 42, 43, "thread", 20));
	chain_stats__sample(&stats, machine, &sample);
	/* These have no chain that says anything: a wake-up, a wait for work, no user side. */
	sample.kind = SAMPLE_WAKEUP;
	chain_stats__sample(&stats, machine, &sample);
	sample.kind = SAMPLE_OFFCPU;
	sample.idle = "pause";
	chain_stats__sample(&stats, machine, &sample);
	sample.idle = NULL;
	sample.user = (struct frames){ 0 };
	sample.user_end = CHAIN_WHOLE;
	chain_stats__sample(&stats, machine, &sample);
	/* Nobody knows who that was. */
	sample.pid = 7;
	sample.user_end = CHAIN_NO_POINTERS;
	chain_stats__sample(&stats, machine, &sample);
	EXPECT_EQ(1, stats.nr);
	EXPECT_STREQ("before", stats.programs[0].comm);
	EXPECT_EQ(7, stats.programs[0].by_end[CHAIN_NO_RULE]);
	EXPECT_EQ(7, stats.ns);
	machine__delete(machine);
}

TEST_HARNESS_MAIN
