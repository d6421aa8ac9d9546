/* SPDX-License-Identifier: GPL-2.0-only */
/* The period of looks follows what they cost. */
#include "top/own_cost.h"

#include "base/units.h"
#include "common/harness.h"

#define MS NSEC_PER_MSEC
#define WANTED (10 * MS)

FIXTURE(cost)
{
	struct own_cost cost;
	uint64_t now, cpu;
	unsigned int changes;
};

static void begin(FIXTURE_DATA(cost) *self, uint32_t limit_ppm)
{
	own_cost__init(&self->cost, limit_ppm, WANTED, 60 * NSEC_PER_SEC, self->now, self->cpu);
}

/* Looks for so long, each of which takes look_ns. */
static void run(FIXTURE_DATA(cost) *self, uint64_t ns, uint64_t look_ns)
{
	for (uint64_t until = self->now + ns; self->now < until;) {
		self->now += self->cost.period_ns;
		self->cpu += look_ns;
		self->changes += own_cost__look(&self->cost, self->now, self->cpu);
	}
}

FIXTURE_SETUP(cost)
{
	self->now = 5 * NSEC_PER_SEC;
	self->cpu = 77 * MS;
	begin(self, 30000);
}

FIXTURE_TEARDOWN(cost)
{
}

TEST_F(cost, within_the_limit_nothing_changes)
{
	run(self, 10 * NSEC_PER_SEC, 290 * NSEC_PER_USEC);
	EXPECT_EQ(0, self->changes);
	EXPECT_EQ(29000, self->cost.ppm);
	EXPECT_EQ(29000, own_cost__mean(&self->cost, self->now));
	EXPECT_EQ(29000, own_cost__tell(&self->cost, self->now));
	EXPECT_EQ(0, own_cost__tell(&self->cost, self->now));
}

TEST_F(cost, beyond_it_the_period_fits_two_seconds_after_the_first)
{
	run(self, NSEC_PER_SEC, MS);
	EXPECT_EQ(0, self->changes);
	run(self, NSEC_PER_SEC, MS);
	EXPECT_EQ(1, self->changes);
	EXPECT_EQ(2 * WANTED, self->cost.period_ns);
	run(self, NSEC_PER_SEC, MS);
	EXPECT_EQ(2, self->changes);
	EXPECT_LT(36 * MS, self->cost.period_ns);
	EXPECT_GT(38 * MS, self->cost.period_ns);
	run(self, 5 * NSEC_PER_SEC, MS);
	EXPECT_EQ(2, self->changes);
	EXPECT_GE(30000, self->cost.ppm);
	/* And comes back when looks are cheap. */
	run(self, 6 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_EQ(WANTED, self->cost.period_ns);
	run(self, 6 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_EQ(WANTED, self->cost.period_ns);
}

TEST_F(cost, an_expensive_first_second_changes_nothing)
{
	self->cpu += NSEC_PER_SEC;
	run(self, NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_LT(1000000, self->cost.ppm);
	run(self, 2 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_EQ(0, self->changes);
}

TEST_F(cost, a_single_expensive_second_makes_it_twice_as_long_until_that_is_made_up_for)
{
	run(self, 10 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	self->cpu += NSEC_PER_SEC;
	run(self, NSEC_PER_SEC + WANTED, 100 * NSEC_PER_USEC);
	EXPECT_EQ(2 * WANTED, self->cost.period_ns);
	run(self, 20 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_EQ(2 * WANTED, self->cost.period_ns);
	run(self, 25 * NSEC_PER_SEC, 100 * NSEC_PER_USEC);
	EXPECT_EQ(WANTED, self->cost.period_ns);
}

TEST_F(cost, what_comes_again_is_within_the_limit_over_a_longer_time)
{
	for (int i = 0; i < 60; i++) {
		self->cpu += 60 * MS;
		run(self, 3 * NSEC_PER_SEC, 290 * NSEC_PER_USEC);
	}
	EXPECT_GT(33000, own_cost__mean(&self->cost, self->now));
	EXPECT_LT(20000, own_cost__mean(&self->cost, self->now));
}

TEST_F(cost, bounds)
{
	/* Two looks at least are judged by, and a minute is the longest period. */
	run(self, 3600 * NSEC_PER_SEC, 4 * NSEC_PER_SEC);
	EXPECT_EQ(60 * NSEC_PER_SEC, self->cost.period_ns);
	begin(self, 0);
	run(self, 60 * NSEC_PER_SEC, MS);
	EXPECT_EQ(WANTED, self->cost.period_ns);
	EXPECT_EQ(100000, self->cost.ppm);
	/* Helpers that end may take their time along for a moment. */
	EXPECT_FALSE(own_cost__look(&self->cost, self->now + 2 * NSEC_PER_SEC, 0));
	own_cost__spend(&self->cost, MS);
	EXPECT_FALSE(own_cost__look(&self->cost, self->now + 3 * NSEC_PER_SEC, 0));
	EXPECT_EQ(0, self->cost.ppm);
	EXPECT_EQ(0, self->cost.read_ppm);
}

/* Looks for so long, and reads all that it may each 20 ms. Returns the CPU time of reading. */
static uint64_t flood(FIXTURE_DATA(cost) *self, uint64_t ns, uint64_t look_ns)
{
	uint64_t look = self->now, read = 0;

	for (uint64_t until = self->now + ns; self->now < until; self->now += 20 * MS) {
		uint64_t allowance = own_cost__allowance(&self->cost, self->now);

		own_cost__spend(&self->cost, allowance);
		read += allowance;
		self->cpu += allowance;
		for (; look <= self->now; look += self->cost.period_ns) {
			self->cpu += look_ns;
			self->changes += own_cost__look(&self->cost, self->now, self->cpu);
		}
	}
	return read;
}

TEST_F(cost, reading_gets_what_looks_leave)
{
	uint64_t read = flood(self, 10 * NSEC_PER_SEC, 50 * NSEC_PER_USEC);

	/* 5 ms a second for looks; reading takes all of the limit until that is known. */
	EXPECT_EQ(0, self->changes);
	EXPECT_LT(9 * 25 * MS, read);
	EXPECT_GT(11 * 25 * MS + 30 * MS, read);
	EXPECT_TRUE(self->cost.used_up);
	EXPECT_GE(31000, self->cost.ppm);
}

TEST_F(cost, looks_and_reading_have_half_of_the_limit_each_where_both_want_more)
{
	flood(self, 5 * NSEC_PER_SEC, MS);
	EXPECT_LT(60 * MS, self->cost.period_ns);
	EXPECT_GT(80 * MS, self->cost.period_ns);
	EXPECT_GE(32000, self->cost.ppm);
	EXPECT_LT(13000, self->cost.read_ppm);
	EXPECT_GT(18000, self->cost.read_ppm);
}

TEST_F(cost, what_reading_does_not_use_is_kept_for_a_second)
{
	EXPECT_EQ(30 * MS, own_cost__allowance(&self->cost, self->now));
	EXPECT_EQ(30 * MS, own_cost__allowance(&self->cost, self->now + 60 * NSEC_PER_SEC));
	own_cost__spend(&self->cost, 10 * MS);
	EXPECT_FALSE(self->cost.used_up);
	own_cost__spend(&self->cost, 40 * MS);
	self->now += 60 * NSEC_PER_SEC;
	EXPECT_EQ(0, own_cost__allowance(&self->cost, self->now));
	EXPECT_TRUE(self->cost.used_up);
	EXPECT_EQ(3 * MS, own_cost__allowance(&self->cost, self->now + 100 * MS));
	begin(self, 0);
	EXPECT_EQ(UINT64_MAX, own_cost__allowance(&self->cost, self->now));
	own_cost__spend(&self->cost, 40 * MS);
	EXPECT_FALSE(self->cost.used_up);
}

TEST_HARNESS_MAIN
