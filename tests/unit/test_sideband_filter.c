/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the kernel's side-band records belong to a recording. */
#include "common/harness.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "capture/sideband_filter.h"

#define OWN 100

struct record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	uint32_t id_pid, id_tid;
	uint64_t id_time;
	uint32_t cpu, res;
	uint64_t id;
};

static struct record make(uint32_t type, uint32_t pid, uint32_t ppid)
{
	return (struct record){
		.header = { .type = type, .size = sizeof(struct record) },
		.pid = pid, .ppid = ppid, .tid = pid, .ptid = ppid, .id_time = 77,
	};
}

static int tell(struct sideband_filter *sideband, const struct record *record)
{
	uint64_t time = 0;
	int wanted = sideband_filter__wants(sideband, record, sizeof(*record), &time);

	return wanted >= 0 && time != 77 ? -1 : wanted;
}

static int wants(struct sideband_filter *sideband, uint32_t type, uint32_t pid, uint32_t ppid)
{
	struct record record = make(type, pid, ppid);

	return tell(sideband, &record);
}

static int wants_thread(struct sideband_filter *sideband, uint32_t type, uint32_t pid, uint32_t tid)
{
	struct record record = make(type, pid, pid);

	record.tid = tid;
	return tell(sideband, &record);
}

TEST(everyone_but_the_recorder_is_in_an_a_recording)
{
	struct sideband_filter *sideband = sideband_filter__new(true, false, OWN);

	EXPECT_EQ(1, wants(sideband, PERF_RECORD_COMM, 5, 0));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_MMAP2, 5, 0));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_MMAP2, OWN, 0));
	/* Its helpers, which it forks, and theirs. */
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_FORK, 101, OWN));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_COMM, 101, 0));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_EXIT, 101, OWN));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_EXIT, OWN, 1));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_COMM, OWN, 0));
	/* Another process may get the helper's pid later. */
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_FORK, 101, 5));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_COMM, 101, 0));
	sideband_filter__delete(sideband);
}

TEST(targets_and_their_children_are_in_and_leave_nothing_behind)
{
	struct sideband_filter *sideband = sideband_filter__new(false, false, OWN);

	ASSERT_EQ(0, sideband_filter__add(sideband, 5, 5));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_COMM, 6, 0));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_COMM, 5, 0));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_FORK, 7, 6));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_FORK, 8, 5));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_FORK, 9, 8));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_MMAP2, 9, 0));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_EXIT, 9, 8));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_MMAP2, 9, 0));
	sideband_filter__delete(sideband);
}

TEST(a_process_is_in_until_its_last_thread_ends)
{
	struct sideband_filter *sideband = sideband_filter__new(false, true, OWN);

	ASSERT_EQ(0, sideband_filter__add(sideband, 5, 5));
	/* A thread: its process is its parent's. Children are not wanted, threads are. */
	EXPECT_EQ(1, wants_thread(sideband, PERF_RECORD_FORK, 5, 15));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_FORK, 6, 5));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_COMM, 6, 0));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_EXIT, 5, 1));
	EXPECT_EQ(1, wants(sideband, PERF_RECORD_COMM, 5, 0));
	EXPECT_EQ(1, wants_thread(sideband, PERF_RECORD_EXIT, 5, 15));
	EXPECT_EQ(0, wants(sideband, PERF_RECORD_COMM, 5, 0));
	sideband_filter__delete(sideband);
}

TEST(records_too_short_or_of_another_type_are_refused)
{
	struct sideband_filter *sideband = sideband_filter__new(true, false, OWN);
	struct record record = make(PERF_RECORD_FORK, 5, 6);
	uint64_t time;

	for (size_t size = 0; size < sizeof(record); size++)
		EXPECT_EQ(-EINVAL, sideband_filter__wants(sideband, &record, size, &time));
	EXPECT_EQ(1, sideband_filter__wants(sideband, &record, sizeof(record), &time));
	record.header.type = PERF_RECORD_SAMPLE;
	EXPECT_EQ(-EINVAL, sideband_filter__wants(sideband, &record, sizeof(record), &time));
	sideband_filter__delete(sideband);
	sideband_filter__delete(NULL);
}

TEST_HARNESS_MAIN
