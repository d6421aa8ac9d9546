/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include <kselftest_harness.h>

#include "capture/sideband_filter.h"

#define OWN 10

/* FORK and EXIT, with the sample_id that all records of the capture end in. */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, res;
		uint64_t id;
	} id;
};

static int tell(struct sideband_filter *sideband, uint32_t type, uint32_t pid, uint32_t tid,
		uint32_t ppid)
{
	struct task_record record = {
		.header = { .type = type, .size = sizeof(record) },
		.pid = pid,
		.tid = tid,
		.ppid = ppid,
		.ptid = ppid,
		.id = { .time = 1 },
	};
	uint64_t time;

	return sideband_filter__wants(sideband, &record, sizeof(record), &time);
}

TEST(thousands_of_children_are_followed_and_leave_nothing_behind)
{
	struct sideband_filter *sideband = sideband_filter__new(false, false, OWN);

	ASSERT_NE(NULL, sideband);
	ASSERT_EQ(0, sideband_filter__add(sideband, 100, 100));
	for (uint32_t pid = 1000; pid < 7000; pid++) {
		/* A child, its second thread, and its own child. */
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_FORK, pid, pid, 100));
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_FORK, pid, pid + 20000, pid));
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_FORK, pid + 40000, pid + 40000, pid));
	}
	EXPECT_EQ(12001, sideband_filter__count(sideband));
	for (uint32_t pid = 1000; pid < 7000; pid++) {
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_EXIT, pid, pid, 100));
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_EXIT, pid, pid + 20000, 100));
		ASSERT_EQ(1, tell(sideband, PERF_RECORD_EXIT, pid + 40000, pid + 40000, 1));
	}
	EXPECT_EQ(1, sideband_filter__count(sideband));
	/* A pid that comes again belongs to whoever has it then. */
	EXPECT_EQ(0, tell(sideband, PERF_RECORD_FORK, 1000, 1000, 99));
	sideband_filter__delete(sideband);
}

TEST(a_thread_that_is_no_target_does_not_take_its_process_out_when_it_ends)
{
	struct sideband_filter *sideband = sideband_filter__new(false, false, OWN);

	ASSERT_NE(NULL, sideband);
	/* -t: one thread of three is in the recording, and so are the names of its process. */
	ASSERT_EQ(0, sideband_filter__add(sideband, 100, 101));
	EXPECT_EQ(1, tell(sideband, PERF_RECORD_EXIT, 100, 102, 1));
	EXPECT_EQ(1, tell(sideband, PERF_RECORD_FORK, 100, 103, 100));
	EXPECT_EQ(1, sideband_filter__count(sideband));
	sideband_filter__delete(sideband);
}

TEST(what_the_recorder_starts_is_left_out_and_forgotten_as_well)
{
	struct sideband_filter *sideband = sideband_filter__new(true, false, OWN);

	ASSERT_NE(NULL, sideband);
	EXPECT_EQ(1, sideband_filter__count(sideband));
	EXPECT_EQ(0, tell(sideband, PERF_RECORD_FORK, 500, 500, OWN));
	EXPECT_EQ(1, tell(sideband, PERF_RECORD_FORK, 501, 501, 99));
	EXPECT_EQ(0, tell(sideband, PERF_RECORD_EXIT, 500, 500, OWN));
	EXPECT_EQ(1, sideband_filter__count(sideband));
	sideband_filter__delete(sideband);
}

TEST(tasks_without_a_number_in_our_namespace_are_left_out)
{
	struct sideband_filter *sideband = sideband_filter__new(true, false, OWN);

	ASSERT_NE(NULL, sideband);
	EXPECT_EQ(0, tell(sideband, PERF_RECORD_FORK, 0, 0, 0));
	EXPECT_EQ(0, tell(sideband, PERF_RECORD_EXIT, UINT32_MAX, UINT32_MAX, 0));
	/* One that came in from there is not. */
	EXPECT_EQ(1, tell(sideband, PERF_RECORD_FORK, 7, 7, 0));
	sideband_filter__delete(sideband);
}

TEST_HARNESS_MAIN
