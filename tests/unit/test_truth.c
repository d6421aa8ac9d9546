/* SPDX-License-Identifier: GPL-2.0-only */
/* The tests' own parsers: a test that misreads its truth proves nothing. */
#include <errno.h>

#include <kselftest_harness.h>

#include "common/observer.h"
#include "common/symbols.h"
#include "common/truth.h"
#include "common/workload.h"

TEST(truth_line_is_read_field_by_field)
{
	struct truth truth;

	ASSERT_EQ(1, truth__parse_line("truth pid=10 tid=11 comm=w-pipe what=pipe "
				       "function=wait_pipe count=7 requested=8 bracket=9 "
				       "voluntary=5 involuntary=6",
				       &truth));
	EXPECT_EQ(10, truth.pid);
	EXPECT_EQ(11, truth.tid);
	EXPECT_STREQ("w-pipe", truth.comm);
	EXPECT_STREQ("pipe", truth.what);
	EXPECT_STREQ("wait_pipe", truth.function);
	EXPECT_EQ(7, truth.count);
	EXPECT_EQ(8, truth.requested_ns);
	EXPECT_EQ(9, truth.bracket_ns);
	EXPECT_EQ(5, truth.voluntary);
	EXPECT_EQ(6, truth.involuntary);
}

TEST(cut_or_longer_truth_line_is_refused)
{
	struct truth truth;

	EXPECT_EQ(0, truth__parse_line("READY", &truth));
	EXPECT_EQ(-EINVAL, truth__parse_line("truth pid=10 tid=11", &truth));
	EXPECT_EQ(-EINVAL, truth__parse_line("truth pid=1 tid=1 comm=a what=b function=c count=1 "
					     "requested=1 bracket=1 voluntary=1 involuntary=1 x",
					     &truth));
}

TEST(switch_line_of_perf_script_is_read)
{
	struct observed_switch one;

	ASSERT_EQ(1, observer__parse_event("  25859  1488.920085674: sched:sched_switch: "
					   "prev_comm=ping-0 prev_pid=25859 prev_prio=120 "
					   "prev_state=R+ ==> next_comm=short next_pid=25858 "
					   "next_prio=120\n",
					   &one));
	EXPECT_EQ(1488920085674ULL, one.time);
	EXPECT_EQ(25859, one.prev);
	EXPECT_EQ(25858, one.next);
	EXPECT_STREQ("R+", one.state);
	EXPECT_EQ(0, observer__parse_event("1 2.3: something:else: x", &one));
	EXPECT_EQ(-EINVAL, observer__parse_event("1 2.3: sched:sched_switch: x", &one));
}

TEST(switch_state_of_one_letter_ends_at_the_arrow)
{
	struct observed_switch one;

	ASSERT_EQ(1, observer__parse_event("1 2.000000003: sched:sched_switch: prev_comm=a "
					   "prev_pid=1 prev_prio=120 prev_state=S ==> next_comm= "
					  "next_pid=5 next_pid=2 next_prio=120",
					  &one));
	EXPECT_STREQ("S", one.state);
	EXPECT_EQ(2, one.next);
}

/* A program's file may have any name, and so its thread. */
TEST(switch_to_a_name_of_two_lines_is_one_event)
{
	char script[] = "1 2.000000003: sched:sched_switch: prev_comm=two\nlines prev_pid=1 "
			"prev_prio=120 prev_state=S ==> next_comm=\n\n next_pid=2 next_prio=120\n"
			"1 2.000000004: sched:sched_switch: prev_comm=b prev_pid=2 prev_prio=120 "
			"prev_state=R ==> next_comm=cut\n"
			"1 2.000000005: sched:sched_switch: prev_comm=c prev_pid=3 prev_prio=120 "
			"prev_state=R ==> next_comm=d next_pid=4 next_prio=120\n"
			"1 2.000000006: sched:sched_switch: prev_comm=e prev_pid=5 prev_prio=120";
	FILE *file = fmemopen(script, strlen(script), "r");
	struct observed_switch one;
	char text[1024];

	ASSERT_TRUE(file != NULL);
	ASSERT_TRUE(observer__read_event(file, text, sizeof(text)));
	ASSERT_EQ(1, observer__parse_event(text, &one));
	EXPECT_EQ(1, one.prev);
	EXPECT_EQ(2, one.next);
	EXPECT_STREQ("S", one.state);
	ASSERT_TRUE(observer__read_event(file, text, sizeof(text)));
	EXPECT_EQ(-EINVAL, observer__parse_event(text, &one));
	ASSERT_TRUE(observer__read_event(file, text, sizeof(text)));
	EXPECT_EQ(-EINVAL, observer__parse_event(text, &one));
	EXPECT_FALSE(observer__read_event(file, text, sizeof(text)));
	fclose(file);
}

TEST(observed_blocks_lie_in_the_window_and_are_clipped_to_its_begin)
{
	struct observed_switch switches[] = {
		{ 100, 7, 0, "S" },  { 150, 0, 7, "R" }, /* ends in the window, begins before */
		{ 160, 7, 0, "R+" }, { 170, 0, 7, "R" }, /* in it */
		{ 180, 7, 0, "D" },  { 300, 0, 7, "R" }, /* ends behind it */
	};
	struct observer observer = { .switches = switches, .nr = 6 };
	struct observed all = observer__blocks(&observer, 7, 120, 200, NULL);
	struct observed sleeps = observer__blocks(&observer, 7, 0, 400, " S D ");

	EXPECT_EQ(2, all.count);
	EXPECT_EQ(30 + 10, all.ns);
	EXPECT_EQ(2, sleeps.count);
	EXPECT_EQ(50 + 120, sleeps.ns);
	EXPECT_FALSE(all.torn);
	/* A wait from before the first switch counts from the begin of the window. */
	observer.switches = &switches[1];
	observer.nr = 1;
	EXPECT_EQ(30, observer__blocks(&observer, 7, 120, 400, " S ").ns);
	EXPECT_EQ(0, observer__blocks(&observer, 8, 0, 400, NULL).count);
}

TEST(thread_that_goes_twice_without_coming_is_noticed)
{
	struct observed_switch switches[] = { { 100, 7, 0, "S" }, { 180, 7, 0, "S" } };
	struct observer observer = { .switches = switches, .nr = 2 };

	EXPECT_TRUE(observer__blocks(&observer, 7, 0, 400, NULL).torn);
}

TEST(workload_runs_and_its_functions_have_names)
{
	const char *const argv[] = { "waits", "--wait", "--count", "2", "--ms", "1", NULL };
	struct workload workload;
	struct symbols *symbols;

	ASSERT_EQ(0, workload__start(&workload, argv));
	ASSERT_EQ(0, workload__await(&workload, "READY"));
	symbols = symbols__of_process(workload.pid);
	EXPECT_TRUE(symbols != NULL);
	symbols__free(symbols);
	ASSERT_EQ(0, workload__go(&workload));
	ASSERT_EQ(0, workload__finish(&workload));
	EXPECT_EQ(6, workload.nr_truths);
	for (size_t i = 0; i < workload.nr_truths; i++) {
		EXPECT_EQ(2, workload.truths[i].count);
		/*
		 * A thread preempted on the way into a wait is off the CPU for less than it
		 * requested.
		 */
		EXPECT_LE(workload.truths[i].requested_ns, workload.truths[i].bracket_ns);
		EXPECT_LE(2000000, workload.truths[i].bracket_ns);
	}
	EXPECT_TRUE(workload__truth(&workload, "w-futex") != NULL);
	EXPECT_TRUE(workload__truth(&workload, "nobody") == NULL);
	workload__free(&workload);
}

TEST_HARNESS_MAIN
