/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/proc_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/harness.h"

/* The fields behind the name, as Linux 6.1 has them. */
#define REST                                                                        \
	" S 1 42 42 0 -1 4194560 11 12 13 14 15 16 17 18 20 0 3 0 4711 1048576 25 " \
	"18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 5 0 0 19 0 0 0 0 0 0 0 0 0 0\n"

TEST(stat_of_a_process)
{
	struct proc_text_stat stat;

	ASSERT_EQ(0, proc_text__stat("42 (cat)" REST, &stat));
	EXPECT_EQ(42, stat.pid);
	EXPECT_STREQ("cat", stat.comm);
	EXPECT_EQ('S', stat.state);
	EXPECT_EQ(1, stat.ppid);
	EXPECT_EQ(11, stat.minor_faults);
	EXPECT_EQ(12, stat.reaped_minor_faults);
	EXPECT_EQ(13, stat.major_faults);
	EXPECT_EQ(14, stat.reaped_major_faults);
	EXPECT_EQ(15, stat.user_ticks);
	EXPECT_EQ(16, stat.system_ticks);
	EXPECT_EQ(17 + 18, stat.reaped_ticks);
	EXPECT_EQ(3, stat.threads);
	EXPECT_EQ(4711, stat.start_ticks);
	EXPECT_EQ(1048576, stat.vms_bytes);
	EXPECT_EQ(25, stat.rss_pages);
	EXPECT_EQ(5, stat.cpu);
	EXPECT_EQ(19, stat.delay_ticks);
}

TEST(stat_of_processes_with_hostile_names)
{
	struct proc_text_stat stat;

	ASSERT_EQ(0, proc_text__stat("7 (a) R 9 (b)" REST, &stat));
	EXPECT_STREQ("a) R 9 (b", stat.comm);
	EXPECT_EQ('S', stat.state);
	EXPECT_EQ(1, stat.ppid);
	ASSERT_EQ(0, proc_text__stat("7 ()" REST, &stat));
	EXPECT_STREQ("", stat.comm);
	ASSERT_EQ(0, proc_text__stat("7 (\n\xff\x1b)" REST, &stat));
	EXPECT_STREQ("\n\xff\x1b", stat.comm);
	/* Kernel threads with long names: cut. */
	ASSERT_EQ(0, proc_text__stat("7 (kworker/u8:1-events_unbound)" REST, &stat));
	EXPECT_STREQ("kworker/u8:1-ev", stat.comm);
	EXPECT_EQ(4711, stat.start_ticks);
}

TEST(stat_that_is_none)
{
	static const char *const texts[] = {
		"",
		"42",
		"42 (cat",
		"42 cat) S 1",
		"42 (cat)",
		"42 (cat) S 1 2 3",
		")(" REST,
		"42 (cat)S 1 42",
		"42 (cat) SS" REST,
	};
	struct proc_text_stat stat;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		EXPECT_EQ(-EPROTO, proc_text__stat(texts[i], &stat));
}

/* The whole way, with our own process: prctl(2) makes the name hostile. */
TEST(stat_of_ourselves)
{
	struct proc_text_stat stat;
	char text[1024];

	ASSERT_EQ(0, prctl(PR_SET_NAME, ") R 0 0 (", 0, 0, 0));
	ASSERT_LT(0, proc_text__read("/proc/self/stat", text, sizeof(text)));
	ASSERT_EQ(0, proc_text__stat(text, &stat));
	EXPECT_EQ(getpid(), stat.pid);
	EXPECT_EQ(getppid(), stat.ppid);
	EXPECT_STREQ(") R 0 0 (", stat.comm);
	EXPECT_EQ(1, stat.threads);
	EXPECT_LT(0, stat.rss_pages);
	EXPECT_LT(stat.rss_pages * (uint64_t)getpagesize(), stat.vms_bytes);
}

TEST(io_of_a_process)
{
	struct proc_text_io io;

	ASSERT_EQ(0, proc_text__io("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
				   "write_bytes: 18446744073709551615\n"
				   "cancelled_write_bytes: 7\n",
				   &io));
	EXPECT_EQ(1, io.rchar);
	EXPECT_EQ(2, io.wchar);
	EXPECT_EQ(3, io.syscr);
	EXPECT_EQ(4, io.syscw);
	EXPECT_EQ(5, io.read_bytes);
	EXPECT_EQ(UINT64_MAX, io.write_bytes);
	EXPECT_EQ(-EPROTO, proc_text__io("", &io));
	EXPECT_EQ(-EPROTO, proc_text__io("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: x\n", &io));
}

TEST(pressure)
{
	struct proc_text_pressure pressure;

	ASSERT_EQ(0,
		  proc_text__pressure("some avg10=1.50 avg60=2.00 avg300=3.00 total=12345678901\n"
				      "full avg10=0.25 avg60=0.00 avg300=0.00 total=99\n",
				      &pressure));
	EXPECT_EQ(150, (int)(pressure.some_avg10 * 100));
	EXPECT_EQ(25, (int)(pressure.full_avg10 * 100));
	EXPECT_EQ(12345678901, pressure.some_total_us);
	EXPECT_EQ(99, pressure.full_total_us);
	ASSERT_EQ(0, proc_text__pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
					 &pressure));
	EXPECT_EQ(0, pressure.full_total_us);
	EXPECT_EQ(-EPROTO, proc_text__pressure("", &pressure));
	EXPECT_EQ(-EPROTO, proc_text__pressure("full avg10=0.00 total=1\n", &pressure));
}

#define NET_HEAD                                                 \
	"Inter-|   Receive                        |  Transmit\n" \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"

TEST(net_dev_without_lo)
{
	uint64_t rx, tx;

	ASSERT_EQ(0, proc_text__net_dev(NET_HEAD "    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
						 "  eth0: 7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
						 "loop1:20 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n",
					&rx, &tx));
	EXPECT_EQ(27, rx);
	EXPECT_EQ(39, tx);
	ASSERT_EQ(0, proc_text__net_dev(NET_HEAD, &rx, &tx));
	EXPECT_EQ(0, rx);
	EXPECT_EQ(-EPROTO, proc_text__net_dev(NET_HEAD "  eth0 7 1 0\n", &rx, &tx));
	EXPECT_EQ(-EPROTO, proc_text__net_dev(NET_HEAD "  eth0: 7 1 0\n", &rx, &tx));
	EXPECT_EQ(0, proc_text__net_dev("", &rx, &tx));
}

TEST(schedstat_and_numbers)
{
	uint64_t run, wait, times, number;

	ASSERT_EQ(0, proc_text__schedstat("123456789012 5 7\n", &run, &wait, &times));
	EXPECT_EQ(123456789012, run);
	EXPECT_EQ(5, wait);
	EXPECT_EQ(7, times);
	EXPECT_EQ(-EPROTO, proc_text__schedstat("1 2", &run, &wait, &times));
	EXPECT_EQ(0, proc_text__number("Name:\tx\nvoluntary_ctxt_switches:\t42\n",
				       "voluntary_ctxt_switches:", &number));
	EXPECT_EQ(42, number);
	EXPECT_EQ(-ENOENT, proc_text__number("Name:\tx\n", "voluntary", &number));
	EXPECT_EQ(-ENOENT, proc_text__number("voluntary\n", "voluntary", &number));
}

TEST(files_that_are_not_there_or_too_long)
{
	char text[8];

	EXPECT_EQ(-ENOENT, proc_text__read("/proc/0/stat", text, sizeof(text)));
	EXPECT_EQ(7, proc_text__read("/proc/self/stat", text, sizeof(text)));
	EXPECT_EQ(7, strlen(text));
}

TEST_HARNESS_MAIN
