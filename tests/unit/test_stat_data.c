/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include <kselftest_harness.h>

#include "stat/stat_data.h"

TEST(no_values_have_no_quantile)
{
	const struct stat_times none = { 0 };

	EXPECT_EQ(0, stat_times__quantile(&none, 0.5));
}

TEST(a_quantile_of_equal_values_is_that_value)
{
	struct stat_times times = { 0 };

	for (int i = 0; i < 100; i++)
		stat_times__add(&times, 5000);
	EXPECT_EQ(5000, stat_times__quantile(&times, 0.5));
	EXPECT_EQ(5000, stat_times__quantile(&times, 0.99));
	EXPECT_EQ(100, times.count);
	EXPECT_EQ(500000, times.total_ns);
}

TEST(quantiles_lie_within_a_factor_of_two_of_the_true_ones)
{
	struct stat_times times = { 0 };
	uint64_t p50, p99;

	for (uint64_t i = 1; i <= 1000; i++)
		stat_times__add(&times, i * 1000);
	p50 = stat_times__quantile(&times, 0.5);
	p99 = stat_times__quantile(&times, 0.99);
	EXPECT_GE(p50, 250000);
	EXPECT_LE(p50, 1000000);
	EXPECT_GE(p99, 495000);
	EXPECT_LE(p99, 1000000);
	EXPECT_LE(stat_times__quantile(&times, 1), times.max_ns);
	EXPECT_GE(stat_times__quantile(&times, 0), times.min_ns);
}

TEST(the_shortest_and_the_longest_values_have_buckets)
{
	struct stat_times times = { 0 };

	stat_times__add(&times, 0);
	stat_times__add(&times, 127);
	stat_times__add(&times, 128);
	stat_times__add(&times, 255);
	stat_times__add(&times, 256);
	stat_times__add(&times, UINT64_MAX / 2);
	EXPECT_EQ(2, times.hist[0]);
	EXPECT_EQ(2, times.hist[1]);
	EXPECT_EQ(1, times.hist[2]);
	EXPECT_EQ(1, times.hist[STAT_HIST_BUCKETS - 1]);
	EXPECT_EQ(0, times.min_ns);
}

TEST(merged_times_are_those_of_both)
{
	struct stat_times a = { 0 }, b = { 0 }, none = { 0 }, all = { 0 };

	stat_times__add(&a, 300);
	stat_times__add(&b, 100);
	stat_times__add(&b, 70000);
	stat_times__merge(&all, &none);
	EXPECT_EQ(0, all.count);
	stat_times__merge(&all, &a);
	stat_times__merge(&all, &b);
	stat_times__merge(&all, &none);
	EXPECT_EQ(3, all.count);
	EXPECT_EQ(70400, all.total_ns);
	EXPECT_EQ(100, all.min_ns);
	EXPECT_EQ(70000, all.max_ns);
	EXPECT_EQ(2, all.hist[0] + all.hist[2]);
}

TEST(freed_data_are_empty)
{
	struct stat_data data = { .nr_threads = 1 };

	data.threads = calloc(1, sizeof(*data.threads));
	ASSERT_NE(NULL, data.threads);
	data.threads->calls = calloc(2, sizeof(struct stat_call));
	data.threads->nr_calls = 2;
	stat_data__free(&data);
	EXPECT_EQ(NULL, data.threads);
	EXPECT_EQ(0, data.nr_threads);
}

TEST(lists_that_say_the_same_again_are_known)
{
	struct stat_data data = { .nr_commands = 5, .nr_threads = 5, .nr_processes = 1 };

	/* Five threads of one process, each with a name of its own. */
	data.total.threads = 5;
	EXPECT_FALSE(stat_data__commands_differ(&data));
	EXPECT_TRUE(stat_data__threads_differ(&data));
	/* They have ended: the list of threads is empty. */
	data.nr_threads = 0;
	EXPECT_TRUE(stat_data__commands_differ(&data));
	EXPECT_FALSE(stat_data__threads_differ(&data));
	/* Five processes of one thread each, of one command. */
	data.nr_threads = data.nr_processes = 5;
	data.nr_commands = 1;
	EXPECT_FALSE(stat_data__commands_differ(&data));
	EXPECT_FALSE(stat_data__threads_differ(&data));
	data.nr_commands = 2;
	EXPECT_TRUE(stat_data__commands_differ(&data));
}

TEST_HARNESS_MAIN
