/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include <kselftest_harness.h>

#include "record/summary.h"
#include "session/accounts.h"

TEST(the_last_line_tells_time_samples_losses_and_the_file)
{
	struct summary summary = {
		.stats = { .direct = { .count = 34 }, .lost_ring = { .count = 5 } },
		.ns = 12345000000ULL,
		.samples = 1234,
		.bytes = 1293942,
		.path = "perf.data",
	};
	char line[256];

	EXPECT_STREQ("[ denet: 12.345 s off-CPU in 1,234 samples (34 direct, 1,200 "
		     "accumulated), 5 lost; wrote 1.234 MB perf.data ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(a_line_tells_of_event_loops_where_no_reason_is_recorded)
{
	struct summary summary = { .ns = 4000, .for_any_ns = 2999 };
	char line[256];

	EXPECT_STREQ("[ 75 % of the time is in epoll_wait, poll or select: --reason tells which "
		     "descriptor became ready, and its peer ]",
		     summary__format_for_any(&summary, line, sizeof(line)));
	summary.for_any_ns = 1999;
	EXPECT_STREQ("", summary__format_for_any(&summary, line, sizeof(line)));
	summary = (struct summary){ .ns = 4000, .for_any_ns = 4000, .reasons = true };
	EXPECT_STREQ("", summary__format_for_any(&summary, line, sizeof(line)));
	summary = (struct summary){ 0 };
	EXPECT_STREQ("", summary__format_for_any(&summary, line, sizeof(line)));
}

TEST(a_line_tells_how_threads_spent_their_lives)
{
	struct summary summary = { .stats.lives = { .count = 2, .ns = 4000000000,
						    .running_ns = 1000000000,
						    .queued_ns = 40000000,
						    .blocked_ns = 2960000000 } };
	char line[256];

	EXPECT_STREQ("[ 4.000 s of 2 threads: 25.0 % running, 1.0 % runnable, 74.0 % blocked ]",
		     summary__format_lives(&summary, line, sizeof(line)));
	summary.stats.lives.uneven = 1;
	summary.stats.lives.lost = 2;
	EXPECT_STREQ("[ 4.000 s of 2 threads: 25.0 % running, 1.0 % runnable, 74.0 % blocked; "
		     "3 threads not accounted for ]",
		     summary__format_lives(&summary, line, sizeof(line)));
	summary.stats.lives.uneven = summary.stats.lives.lost = 0;
	summary.stats.lives.filtered_ns = 1500000000ULL;
	EXPECT_STREQ("[ 4.000 s of 2 threads (1.500 s more filtered out): 25.0 % running, "
		     "1.0 % runnable, 74.0 % blocked ]",
		     summary__format_lives(&summary, line, sizeof(line)));
	summary = (struct summary){ 0 };
	EXPECT_STREQ("", summary__format_lives(&summary, line, sizeof(line)));
}

TEST(a_line_tells_of_threads_that_stand_before_all_others_and_never_ran)
{
	struct summary summary = { .ns = 4000, .never_ran = { .count = 5, .ns = 3000 } };
	char line[256];

	EXPECT_STREQ("[ 75 % of the time is of 5 threads that were blocked from begin to end: a "
		     "report with -g none lists the waits of others below them ]",
		     summary__format_never_ran(&summary, line, sizeof(line)));
	summary.waits.most = (struct wait_stats_row){ "redis", "fdatasync", 2171000000ULL, 0 };
	EXPECT_STREQ("[ 75 % of the time is of 5 threads that were blocked from begin to end: a "
		     "report with -g none lists the waits of others below them, first "
		     "redis in fdatasync, 2.171 s ]",
		     summary__format_never_ran(&summary, line, sizeof(line)));
	summary.never_ran.ns = 1999;
	EXPECT_STREQ("", summary__format_never_ran(&summary, line, sizeof(line)));
	summary.never_ran = (struct sample_events_tally){ .count = 1, .ns = 3000 };
	EXPECT_STREQ("", summary__format_never_ran(&summary, line, sizeof(line)));
	summary.never_ran.count = 5;
	/* A deadlock: there are no others. */
	summary.never_ran.ns = 4000;
	EXPECT_STREQ("", summary__format_never_ran(&summary, line, sizeof(line)));
	summary = (struct summary){ 0 };
	EXPECT_STREQ("", summary__format_never_ran(&summary, line, sizeof(line)));
}

TEST(a_line_tells_of_uninterruptible_waits_of_a_tenth_of_the_recording)
{
	struct summary summary = {
		.stats = { .start_ns = 5, .end_ns = 5 + 10000000000ULL },
		.waits = {
			.uninterruptible = 1500000000ULL,
			.most_uninterruptible = { "postgres", "fdatasync", 0, 1250000000ULL },
		},
	};
	char line[256];

	EXPECT_STREQ("[ uninterruptible (state D, mostly disk or kernel locks): 1.500 s, first "
		     "postgres in fdatasync, 1.250 s ]",
		     summary__format_uninterruptible(&summary, line, sizeof(line)));
	*summary.waits.most_uninterruptible.call = '\0';
	EXPECT_STREQ("[ uninterruptible (state D, mostly disk or kernel locks): 1.500 s, first "
		     "postgres, 1.250 s ]",
		     summary__format_uninterruptible(&summary, line, sizeof(line)));
	summary.waits.most_uninterruptible.uninterruptible = 0;
	EXPECT_STREQ("[ uninterruptible (state D, mostly disk or kernel locks): 1.500 s ]",
		     summary__format_uninterruptible(&summary, line, sizeof(line)));
	summary.waits.uninterruptible = 1000000000;
	EXPECT_STRNE("", summary__format_uninterruptible(&summary, line, sizeof(line)));
	summary.waits.uninterruptible = 999999999;
	EXPECT_STREQ("", summary__format_uninterruptible(&summary, line, sizeof(line)));
	summary = (struct summary){ 0 };
	EXPECT_STREQ("", summary__format_uninterruptible(&summary, line, sizeof(line)));
}

TEST(threads_that_are_still_blocked_are_told_apart)
{
	struct summary summary = {
		.stats = { .direct = { .count = 1 } },
		.samples = 6,
		.still_blocked = 2,
		.path = "-",
	};
	char line[256];

	EXPECT_STREQ("[ denet: 0.000 s off-CPU in 6 samples (1 direct, 3 accumulated, 2 "
		     "still blocked), 0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(threads_that_never_ran_are_told_apart)
{
	struct summary summary = {
		.samples = 6,
		.still_blocked = 2,
		.idle = { .count = 57, .ns = 99 },
		.path = "-",
	};
	char line[256];

	EXPECT_STREQ("[ denet: 0.000 s off-CPU in 6 samples (0 direct, 4 accumulated, 2 "
		     "still blocked), 57 idle apart, 0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(split_time_and_wakers_are_told_where_they_were_asked_for)
{
	struct summary summary = {
		.ns = 3000000000ULL,
		.runqueue_ns = 250000000ULL,
		.split = true,
		.wakers = true,
		.wakeups = { .count = 1234, .ns = 2700000000ULL },
		.samples = 6,
		.path = "-",
	};
	char line[256];

	EXPECT_STREQ("[ denet: 3.000 s off-CPU (2.750 s blocked, 0.250 s waiting for a "
		     "CPU) in 6 samples (0 direct, 6 accumulated), wakers of 2.700 s in 1,234 "
		     "samples, 0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(what_was_set_apart_is_told_with_its_longest_waits)
{
	struct summary summary = {
		.idle = { .count = 57, .ns = 30100000000ULL },
		.longest_idle = {
			{ .ns = 10000000000ULL, .tid = 123, .call = "accept4", .comm = "nginx" },
			{ .ns = 9000000000ULL, .tid = 7, .call = "pause" },
		},
	};
	char line[256];

	EXPECT_STREQ("[ idle apart (event offcpu-idle): 30.100 s in 57 samples, longest accept4 of "
		     "nginx/123 10.000 s, pause of ?/7 9.000 s ]",
		     summary__format_idle(&summary, line, sizeof(line)));
	summary.idle.count = 0;
	EXPECT_STREQ("", summary__format_idle(&summary, line, sizeof(line)));
	summary.idle.count = 57;
	EXPECT_EQ(7, strlen(summary__format_idle(&summary, line, 8)));
}

TEST(waits_for_a_cpu_are_told_as_far_as_no_sample_tells_them)
{
	struct summary summary = {
		.stats = { .runnable_ns = 1700000000ULL, .preempted_ns = 1200000000ULL,
			   .throttled_ns = 2460000000ULL },
		.ns = 3000000000ULL,
		.path = "-",
	};
	char line[320];

	EXPECT_STREQ("[ denet: 3.000 s off-CPU in 0 samples (0 direct, 0 accumulated), "
		     "0.500 s of it runnable, +1.200 s runnable, not recorded: --split-runqueue, "
		     "+2.460 s throttled by a CPU quota, 0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
	/* Where these blocks are samples, they are not in addition to anything. */
	summary.records_preempted = true;
	EXPECT_STREQ("[ denet: 3.000 s off-CPU in 0 samples (0 direct, 0 accumulated), "
		     "1.700 s of it runnable, 2.460 s throttled by a CPU quota, 0 lost; wrote "
		     "0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
	summary.split = true;
	EXPECT_STREQ("[ denet: 3.000 s off-CPU (3.000 s blocked, 0.000 s waiting for a CPU) "
		     "in 0 samples (0 direct, 0 accumulated), 2.460 s throttled by a CPU quota, 0 "
		     "lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
	/* A millisecond beside seconds is nothing. */
	summary = (struct summary){ .stats.runnable_ns = 1000000, .stats.preempted_ns = 500000,
				    .ns = 3000000000ULL, .path = "-" };
	EXPECT_STREQ("[ denet: 3.000 s off-CPU in 0 samples (0 direct, 0 accumulated), 0 "
		     "lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(sampling_and_several_files_are_told)
{
	struct summary summary = {
		.ns = 2000000000ULL,
		.period_ns = 20000,
		.threshold_ns = 500000000,
		.sampled_for_cost = 0.1234,
		.stats.variance = 1e14,
		.rotated = true,
		.path = "perf.data",
	};
	char line[320];

	EXPECT_STREQ("[ denet: 2.000 s off-CPU in 0 samples (0 direct, 0 accumulated), 0 "
		     "lost; --max-overhead sampled 12.3 % of the time, in the end sampled one for "
		     "each 20.000 us below 500.000 ms, standard error 0.50 %; wrote 0.000 MB "
		     "perf.data.<timestamp> ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(where_each_block_is_a_sample_none_is_said_to_stand_for_others)
{
	struct summary summary = { .ns = 2000000000ULL, .period_ns = 1000000, .path = "-" };
	char line[320];

	EXPECT_STREQ("[ denet: 2.000 s off-CPU in 0 samples (0 direct, 0 accumulated), 0 "
		     "lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
	/* A budget had raised the threshold, and it came back. */
	summary.stats.drawn.count = 1;
	summary.stats.variance = 1e14;
	EXPECT_STREQ("[ denet: 2.000 s off-CPU in 0 samples (0 direct, 0 accumulated), 0 "
		     "lost; sampled for a while, standard error 0.50 %; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(what_was_sampled_for_its_cost_for_a_while_is_told_by_its_share_of_the_time)
{
	struct summary summary = {
		.ns = 2000000000ULL,
		.threshold_ns = 500000000,
		.sampled_for_cost = 0.5,
		.stats.drawn.count = 1,
		.stats.variance = 1e14,
		.path = "-",
	};
	char line[320];

	EXPECT_STREQ("[ denet: 2.000 s off-CPU in 0 samples (0 direct, 0 accumulated), 0 "
		     "lost; --max-overhead sampled 50.0 % of the time, standard error 0.50 %; "
		     "wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(a_short_buffer_is_not_overrun)
{
	struct summary summary = { .path = "perf.data" };
	char line[16];

	memset(line, 'x', sizeof(line));
	summary__format(&summary, line, 8);
	EXPECT_EQ('\0', line[7]);
	EXPECT_EQ('x', line[8]);
}

TEST(last_line_tells_how_many_stacks_have_frame_pointers_after_all)
{
	struct summary summary = {
		/* Of the blocks whose copies were lost, most were lost themselves: no samples. */
		.stats = { .direct = { .count = 9 }, .lost_copies = 50, .without_copy = 2 },
		.samples = 9,
		.copies = true,
		.callchain = { .unwound = 4, .truncated = 1, .fell_back = 2 },
		.path = "-",
	};
	char line[512];

	EXPECT_STREQ("[ denet: 0.000 s off-CPU in 9 samples (9 direct, 0 accumulated), "
		     "4 not unwound, 0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
	/* The line is missing where copies were not asked for. */
	summary.copies = false;
	EXPECT_STREQ("[ denet: 0.000 s off-CPU in 9 samples (9 direct, 0 accumulated), "
		     "0 lost; wrote 0.000 MB ]",
		     summary__format(&summary, line, sizeof(line)));
}

TEST(lost_counts_every_kind_of_block_that_is_in_no_sample)
{
	struct capture_stats stats = {
		.lost_ring = { .count = 1 },
		.lost_internal = { .count = 10 },
		.unseen_switches = 100,
		.filtered_min = { .count = 1000 },
		.lost_stack = { .count = 10000 },
	};

	EXPECT_EQ(111, accounts__lost(&stats));
}

TEST_HARNESS_MAIN
