/* SPDX-License-Identifier: GPL-2.0-only */
#include <kselftest_harness.h>

#include "capture/running.h"

/* Periods of a window: by user_id of the sum, or by thread where no look met it. */
struct given {
	uint64_t sums[8];
	uint64_t not_sampled[8];
	int nr;
};

static int give_sum(void *ctx, const struct wire_entry_key *key, const struct wire_entry *entry,
		    uint64_t period)
{
	struct given *given = ctx;

	(void)entry;
	given->sums[key->user_id] += period;
	given->nr++;
	return 0;
}

static int give_not_sampled(void *ctx, const struct wire_run *run, uint64_t period)
{
	struct given *given = ctx;

	given->not_sampled[run->incarnation] += period;
	given->nr++;
	return 0;
}

FIXTURE(running)
{
	struct running running;
	struct given given;
};

FIXTURE_SETUP(running)
{
}

FIXTURE_TEARDOWN(running)
{
	running__free(&self->running);
}

static int add(struct running *running, uint64_t incarnation, uint64_t place, uint64_t looks,
	       uint64_t run_ns)
{
	const struct wire_entry_key key = { .incarnation = incarnation, .user_id = place };
	const struct wire_entry entry = { .ns = run_ns, .count = looks };

	return running__add_sum(running, &key, &entry);
}

static int take(struct running *running, uint64_t incarnation, uint64_t run_ns, uint64_t life_ns)
{
	const struct wire_run run = { .incarnation = incarnation, .run_ns = run_ns,
				      .life_ns = life_ns };

	return running__take(running, &run);
}

static int end_window(struct running *running, struct given *given)
{
	const struct running_sink sink = { given, give_sum, give_not_sampled };

	*given = (struct given){ 0 };
	return running__end_window(running, &sink);
}

TEST_F(running, time_is_divided_among_the_looks_and_none_is_left)
{
	ASSERT_EQ(0, add(&self->running, 1, 1, 1, 40));
	ASSERT_EQ(0, add(&self->running, 1, 2, 1, 60));
	ASSERT_EQ(0, add(&self->running, 1, 3, 1, 80));
	ASSERT_EQ(0, take(&self->running, 1, 100, 0));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(33, self->given.sums[1]);
	EXPECT_EQ(33, self->given.sums[2]);
	EXPECT_EQ(34, self->given.sums[3]);
	EXPECT_EQ(3, self->given.nr);
}

TEST_F(running, a_window_has_what_came_since_the_last_one)
{
	ASSERT_EQ(0, add(&self->running, 1, 1, 2, 90));
	ASSERT_EQ(0, take(&self->running, 1, 100, 0));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(100, self->given.sums[1]);
	ASSERT_EQ(0, add(&self->running, 1, 2, 1, 130));
	ASSERT_EQ(0, add(&self->running, 1, 1, 3, 150));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(12, self->given.sums[2]);
	EXPECT_EQ(38, self->given.sums[1]);
	/* A report that repeats known time adds nothing. */
	ASSERT_EQ(0, take(&self->running, 1, 150, 0));
	ASSERT_EQ(0, take(&self->running, 1, 140, 0));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(0, self->given.nr);
}

TEST_F(running, a_thread_without_a_look_has_its_time)
{
	ASSERT_EQ(0, take(&self->running, 3, 70, 0));
	ASSERT_EQ(0, add(&self->running, 4, 1, 1, 5));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(70, self->given.not_sampled[3]);
	EXPECT_EQ(5, self->given.sums[1]);
	EXPECT_EQ(2, self->given.nr);
}

TEST_F(running, a_look_that_is_a_sample_takes_what_was_not_told)
{
	EXPECT_EQ(50, running__tell(&self->running, 1, 50));
	EXPECT_EQ(20, running__tell(&self->running, 1, 70));
	EXPECT_EQ(0, running__tell(&self->running, 1, 70));
	ASSERT_EQ(0, add(&self->running, 1, 1, 1, 60));
	ASSERT_EQ(0, take(&self->running, 1, 100, 0));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(30, self->given.sums[1]);
}

TEST_F(running, who_has_ended_is_forgotten_and_its_place_used_again)
{
	for (uint64_t i = 1; i < 1000; i++) {
		ASSERT_EQ(0, add(&self->running, i, 1, 1, i));
		ASSERT_EQ(0, take(&self->running, i, 2 * i, 3 * i));
		ASSERT_EQ(0, end_window(&self->running, &self->given));
		ASSERT_EQ(2 * i, self->given.sums[1]);
	}
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(0, self->given.nr);
	EXPECT_EQ(2, self->running.nr);
	EXPECT_EQ(0, self->running.threads.used);
}

/* The end is read in the window before, whose sums were complete by then. */
TEST_F(running, looks_of_a_thread_that_has_ended_tell_nothing_twice)
{
	ASSERT_EQ(0, take(&self->running, 1, 100, 200));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(100, self->given.not_sampled[1]);
	ASSERT_EQ(0, add(&self->running, 1, 1, 1, 80));
	ASSERT_EQ(0, end_window(&self->running, &self->given));
	EXPECT_EQ(0, self->given.nr);
}

TEST_F(running, lives_are_held_against_their_parts)
{
	const struct wire_run even = { .incarnation = 1, .run_ns = 30, .rest_ns = 70,
				       .life_ns = 100 };
	const struct wire_run less = { .incarnation = 2, .run_ns = 30, .rest_ns = 60,
				       .life_ns = 100 };
	const struct wire_run more = { .incarnation = 3, .run_ns = 33, .rest_ns = 70,
				       .life_ns = 100 };

	ASSERT_EQ(0, running__take(&self->running, &even));
	ASSERT_EQ(0, running__take(&self->running, &less));
	ASSERT_EQ(0, running__take(&self->running, &more));
	ASSERT_EQ(0, take(&self->running, 4, 10, 0));
	EXPECT_EQ(3, self->running.lives);
	EXPECT_EQ(300, self->running.life_ns);
	EXPECT_EQ(93, self->running.run_ns);
	EXPECT_EQ(200, self->running.rest_ns);
	EXPECT_EQ(2, self->running.uneven);
	EXPECT_EQ(13, self->running.unaccounted_ns);
}

TEST_HARNESS_MAIN
