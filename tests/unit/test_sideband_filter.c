/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the kernel's side-band records belong to a recording, and say something new. */
#include "capture/sideband_filter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/units.h"
#include "common/harness.h"
#include "common/machine_events.h"
#include "output/perfdata/layout.h"

#define OWN 100

FIXTURE(filter)
{
	struct machine *machine;
	struct sideband_filter filter;
	struct task_event event; /* that was passed on last */
};

FIXTURE_SETUP(filter)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	ASSERT_EQ(0, sideband_filter__init(&self->filter, self->machine, OWN, false));
}

FIXTURE_TEARDOWN(filter)
{
	machine__delete(self->machine);
}

typedef FIXTURE_DATA(filter) data;

/* 1: it is passed on. */
static int take(data *self, const void *record, size_t size)
{
	if (!sideband_filter__decode(&self->filter, record, size, &self->event))
		return 0;
	return sideband_filter__take(&self->filter, &self->event);
}

static int wants_task(data *self, uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid)
{
	const struct {
		struct layout_task task;
		struct layout_sample_id id;
	} record = {
		.task = { .header = { .type = type, .size = sizeof(record) },
			  .pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid },
		.id = { .time = 77 },
	};

	return take(self, &record, sizeof(record));
}

static int wants(data *self, uint32_t type, uint32_t pid, uint32_t ppid)
{
	return wants_task(self, type, pid, pid, ppid);
}

static int wants_comm(data *self, uint32_t pid, const char *name, uint64_t time)
{
	struct {
		struct layout_comm comm;
		char name[16];
		struct layout_sample_id id;
	} record = {
		.comm = { .header = { .type = PERF_RECORD_COMM, .size = sizeof(record) },
			  .pid = pid, .tid = pid },
		.id = { .time = time },
	};

	snprintf(record.name, sizeof(record.name), "%s", name);
	return take(self, &record, sizeof(record));
}

static int wants_map(data *self, uint32_t pid, uint64_t start, uint64_t time)
{
	const struct {
		struct layout_mmap2 map;
		char path[8];
		struct layout_sample_id id;
	} record = {
		.map = { .header = { .type = PERF_RECORD_MMAP2, .size = sizeof(record) },
			 .pid = pid, .tid = pid, .start = start, .len = 0x1000, .prot = 5 },
		.path = "/lib/c",
		.id = { .time = time },
	};

	return take(self, &record, sizeof(record));
}

static bool lives(const data *self, pid_t pid)
{
	return process__lives(machine__process(self->machine, pid));
}

TEST_F(filter, everyone_but_the_recorder_is_in_an_a_recording)
{
	ASSERT_EQ(0, sideband_filter__init(&self->filter, self->machine, OWN, true));
	EXPECT_EQ(1, wants_comm(self, 5, "five", 77));
	EXPECT_EQ(1, wants_map(self, 5, 0x1000, 77));
	EXPECT_EQ(0, wants_map(self, OWN, 0x1000, 77));
	/* Its helpers, which it forks, and theirs. */
	EXPECT_EQ(0, wants(self, PERF_RECORD_FORK, 101, OWN));
	EXPECT_EQ(0, wants_comm(self, 101, "helper", 77));
	EXPECT_EQ(0, wants(self, PERF_RECORD_EXIT, 101, OWN));
	EXPECT_EQ(0, wants(self, PERF_RECORD_EXIT, OWN, 1));
	EXPECT_EQ(0, wants_comm(self, OWN, "recorder", 77));
	/* Another process may get the helper's pid later. */
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 101, 5));
	EXPECT_EQ(1, wants_comm(self, 101, "other", 78));
}

TEST_F(filter, targets_and_their_children_are_in_and_leave_nothing_behind)
{
	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	EXPECT_EQ(0, wants_comm(self, 6, "six", 77));
	EXPECT_EQ(1, wants_comm(self, 5, "five", 77));
	EXPECT_EQ(0, wants(self, PERF_RECORD_FORK, 7, 6));
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 8, 5));
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 9, 8));
	EXPECT_EQ(77, self->event.time);
	EXPECT_EQ(1, wants_map(self, 9, 0x1000, 77));
	EXPECT_EQ(1, wants(self, PERF_RECORD_EXIT, 9, 8));
	EXPECT_EQ(0, wants_map(self, 9, 0x1000, 77));
	EXPECT_EQ(NULL, machine__process(self->machine, 6));
	machine__forget(self->machine, 77);
	EXPECT_EQ(NULL, machine__process(self->machine, 9));
}

TEST_F(filter, a_process_is_in_until_its_last_thread_ends)
{
	self->filter.no_inherit = true;
	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	/* A thread: its process is its parent's. Children are not wanted, threads are. */
	EXPECT_EQ(1, wants_task(self, PERF_RECORD_FORK, 5, 15, 5));
	EXPECT_EQ(0, wants(self, PERF_RECORD_FORK, 6, 5));
	EXPECT_EQ(0, wants_comm(self, 6, "six", 77));
	EXPECT_EQ(1, wants(self, PERF_RECORD_EXIT, 5, 1));
	EXPECT_EQ(1, wants_comm(self, 5, "five", 77));
	EXPECT_EQ(1, wants_task(self, PERF_RECORD_EXIT, 5, 15, 5));
	EXPECT_EQ(1, wants(self, PERF_RECORD_EXIT, 5, 5));
	EXPECT_EQ(0, wants_comm(self, 5, "five", 77));
}

TEST_F(filter, a_thread_that_is_no_target_does_not_take_its_process_out_when_it_ends)
{
	/* -t: one thread of three is in the recording, and so are the names of its process. */
	ASSERT_EQ(0, born(self->machine, 100, 101, 100, 0));
	EXPECT_EQ(1, wants_task(self, PERF_RECORD_EXIT, 100, 102, 1));
	EXPECT_EQ(1, wants_task(self, PERF_RECORD_FORK, 100, 103, 100));
	EXPECT_TRUE(lives(self, 100));
}

TEST_F(filter, tasks_without_a_number_in_our_namespace_are_left_out)
{
	ASSERT_EQ(0, sideband_filter__init(&self->filter, self->machine, OWN, true));
	EXPECT_EQ(0, wants(self, PERF_RECORD_FORK, 0, 0));
	EXPECT_EQ(0, wants(self, PERF_RECORD_EXIT, UINT32_MAX, 0));
	/* A task that entered our namespace has a number there, and is kept. */
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 7, 0));
}

TEST_F(filter, records_that_make_no_sense_cost_themselves_only)
{
	static const char zeros[64];
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = 64 };
	char record[64] = { 0 };

	ASSERT_EQ(0, sideband_filter__init(&self->filter, self->machine, OWN, true));
	for (size_t size = 0; size <= sizeof(zeros); size++)
		EXPECT_EQ(0, take(self, zeros, size));
	memcpy(record, &header, sizeof(header));
	EXPECT_EQ(0, take(self, record, sizeof(record)));
	EXPECT_EQ(sizeof(zeros) + 2, self->filter.nr_senseless);
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 7, 5));
}

TEST_F(filter, a_mapping_that_is_told_again_is_passed_on_once)
{
	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	EXPECT_EQ(1, wants_map(self, 5, 0x1000, 10));
	EXPECT_EQ(0, wants_map(self, 5, 0x1000, 20));
	EXPECT_EQ(1, wants_map(self, 5, 0x2000, 30));
	/* Its child has it as well, as readers of the file know. */
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 6, 5));
	EXPECT_EQ(0, wants_map(self, 6, 0x2000, 80));
	/* With data in the file, what lies at an address changes without the machine's knowing. */
	self->filter.keep_known = true;
	EXPECT_EQ(1, wants_map(self, 6, 0x2000, 90));
}

TEST_F(filter, a_flood_of_mappings_is_cut_and_the_next_second_begins_anew)
{
	uint64_t passed = 0, time = 5 * NSEC_PER_SEC;

	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	ASSERT_EQ(0, forks(self->machine, 6, 1, 0));
	for (uint64_t i = 0; i < 100000; i++)
		passed += (uint64_t)wants_map(self, 5, 0x1000 * (1 + i % 3) + 0x800 * (i & 1),
					      time + i);
	EXPECT_EQ(SIDEBAND_FILTER_MAX_RATE, passed);
	/* Mappings that are left out of the file still reach the machine. */
	EXPECT_STREQ("/lib/c", path_at(self->machine, 5, time + 100000, 0x1800));
	for (uint64_t i = 0; i < 100000; i++)
		wants_comm(self, 5, i & 1 ? "odd" : "even", time + 200000 + i);
	/* Neither other processes' mappings nor births and ends are held back. */
	EXPECT_EQ(1, wants_map(self, 6, 0x1000, time + 300000));
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 7, 5));
	EXPECT_EQ(100000 - passed + 100000, self->filter.nr_flooded);
	EXPECT_EQ(1, wants_map(self, 5, 0x9000, time + NSEC_PER_SEC));
}

/* Mappings of a process in a second, one after the other; how many are passed on. */
static uint64_t flood(data *self, uint32_t pid, uint64_t time, uint64_t nr)
{
	uint64_t passed = 0;

	for (uint64_t i = 0; i < nr; i++)
		passed += (uint64_t)wants_map(self, pid, 0x1000 * (1 + i % 3) + 0x800 * (i & 1),
					      time + i);
	return passed;
}

TEST_F(filter, who_floods_on_may_tell_less_with_each_second_and_so_may_its_children)
{
	static const uint64_t rates[] = { 8192, 2048, 512, 128, 64, 64 };
	uint64_t time = 5 * NSEC_PER_SEC;

	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++, time += NSEC_PER_SEC)
		EXPECT_EQ(rates[i], flood(self, 5, time, 10000));
	EXPECT_EQ(1, wants(self, PERF_RECORD_FORK, 6, 5));
	EXPECT_EQ(64, flood(self, 6, time, 10000));
	/* Two quiet seconds take it two steps back, and four to where it began. */
	time += 2 * NSEC_PER_SEC;
	EXPECT_EQ(512, flood(self, 5, time, 10000));
	EXPECT_EQ(8192, flood(self, 5, time + 10 * NSEC_PER_SEC, 10000));
}

TEST_F(filter, many_processes_that_flood_share_what_all_may_tell)
{
	const uint64_t time = 5 * NSEC_PER_SEC;
	uint64_t passed = 0;

	for (pid_t pid = 10; pid < 110; pid++) {
		ASSERT_EQ(0, forks(self->machine, pid, 1, 0));
		passed += flood(self, (uint32_t)pid, time + (uint64_t)pid, 8000);
	}
	EXPECT_LE(SIDEBAND_FILTER_BURST, passed);
	EXPECT_GT(SIDEBAND_FILTER_BURST + 100 * SIDEBAND_FILTER_LEAST_RATE + 1000, passed);
	/* An ordinary program starts beside them with all of its mappings. */
	ASSERT_EQ(0, forks(self->machine, 5, 1, 0));
	EXPECT_EQ(60, flood(self, 5, time + 1000000, 60));
	/* Later there is room for all again. */
	ASSERT_EQ(0, forks(self->machine, 6, 1, 0));
	EXPECT_EQ(8000, flood(self, 6, time + 9 * NSEC_PER_SEC, 8000));
}

TEST_HARNESS_MAIN
