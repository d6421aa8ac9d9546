/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples get the times of calls and requests that ended later, by thread and number. */
#include "top/csv_ends.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "common/harness.h"
#include "top/wall_time.h"

#define CALLS "TYPE,TID,TGID,SYSCALL_NAME,DURATION_NS,SYSC_RET_VAL,SYSC_SEQ_NUM,SYSC_ENTER_TIME\n"
#define REQUESTS "TYPE,INSERT_TID,IORQ_SEQ_NUM,DURATION_NS,ISSUE_TIMESTAMP\n"
#define AT "2026-01-31T22:10:00.000000"
#define LATER "2026-01-31T22:20:00.000000"

FIXTURE(ends)
{
	char dir[32];
	struct csv_ends *ends;
};

FIXTURE_SETUP(ends)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-test-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
}

FIXTURE_TEARDOWN(ends)
{
	char command[64];

	csv_ends__delete(self->ends);
	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	EXPECT_EQ(0, system(command));
}

typedef FIXTURE_DATA(ends) data;

static bool write_file(const data *self, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", self->dir, name);
	file = fopen(path, "w");
	return file && fputs(text, file) >= 0 && !fclose(file);
}

/* The times of the call and the request of a sample, taken a minute after AT, in ms. */
static const char *times_of(const data *self, const char *tid, const char *call,
			    const char *request)
{
	static char both[64];
	const char *texts[TOP_COLUMNS];
	struct activity_times times = { 0 };
	uint64_t ns;

	if (wall_time__parse(AT, 0, &ns))
		return "?";
	for (int i = 0; i < TOP_COLUMNS; i++)
		texts[i] = "";
	texts[TOP_COLUMN_TID] = tid;
	texts[TOP_COLUMN_SYSC_SEQ] = call;
	texts[TOP_COLUMN_IORQ_SEQ] = request;
	csv_ends__put(self->ends, ns + 60 * NSEC_PER_SEC, texts, &times);
	snprintf(both, sizeof(both), "%llu %llu",
		 (unsigned long long)(times.ns[ACTIVITY_TIME_CALL] / NSEC_PER_MSEC),
		 (unsigned long long)(times.ns[ACTIVITY_TIME_REQUEST] / NSEC_PER_MSEC));
	return both;
}

TEST_F(ends, calls_and_requests_have_their_times)
{
	char path[96];
	int err;

	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv",
			       CALLS "SYSC_END,7,5,'read',60000000000,0,1," AT "\n"
				     "SYSC_END,7,5,'read',59950000000,0,2," AT "\n"));
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.23.csv",
			       CALLS "SYSC_END,8,5,'read',99999999999,0,1," AT "\n"));
	ASSERT_TRUE(write_file(self, "xcapture_iorqend_2026-01-31.23.csv",
			       REQUESTS "IORQ_END,7,1,60000000000," AT "\n"));
	ASSERT_TRUE(write_file(self, "xcapture_samples_2026-01-31.23.csv", "\n"));
	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("60000 60000", times_of(self, "7", "1", "1"));
	EXPECT_STREQ("59950 0", times_of(self, "7", "2", "2"));
	EXPECT_STREQ("99999 0", times_of(self, "8", "1", "1"));
	/* 0 is the number of no call. */
	EXPECT_STREQ("0 0", times_of(self, "7", "0", "0"));
	EXPECT_STREQ("0 0", times_of(self, "9", "1", ""));
	EXPECT_STREQ("0 0", times_of(self, "", "1", "1"));
	csv_ends__delete(self->ends);
	/* Those beside a file of samples. */
	snprintf(path, sizeof(path), "%s/xcapture_samples_2026-01-31.23.csv", self->dir);
	self->ends = csv_ends__read(path, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("99999 0", times_of(self, "8", "1", ""));
	EXPECT_FALSE(csv_ends__is_full(self->ends));
}

/* Of calls that began at one local time, in an autumn hour, those of the second hour are there. */
TEST_F(ends, calls_of_an_hour_that_comes_twice_have_their_times)
{
	const uint64_t two = 1792886400000000000;
	const char *texts[TOP_COLUMNS] = { 0 };
	struct activity_times times = { 0 };
	int err;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-10-25.02.csv",
			       CALLS "SYSC_END,7,5,'read',60000000000,0,1,2026-10-25T02:50:00\n"
				     "SYSC_END,7,5,'read',50000000000,0,2,2026-10-25T02:01:00\n"));
	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	texts[TOP_COLUMN_TID] = "7";
	texts[TOP_COLUMN_SYSC_SEQ] = "1";
	texts[TOP_COLUMN_IORQ_SEQ] = "";
	csv_ends__put(self->ends, two + 3001 * NSEC_PER_SEC, texts, &times);
	EXPECT_EQ(60 * NSEC_PER_SEC, times.ns[ACTIVITY_TIME_CALL]);
	texts[TOP_COLUMN_SYSC_SEQ] = "2";
	csv_ends__put(self->ends, two + 3661 * NSEC_PER_SEC, texts, &times);
	EXPECT_EQ(50 * NSEC_PER_SEC, times.ns[ACTIVITY_TIME_CALL]);
	setenv("TZ", "UTC", 1);
	tzset();
}

/* Numbers begin anew with each recording, and ids of threads are used again. */
TEST_F(ends, calls_of_one_number_are_told_apart_by_their_time)
{
	int err;

	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv",
			       CALLS "SYSC_END,7,5,'read',1000,0,1," AT "\n"
				     "SYSC_END,7,5,'read',700000000000,0,2," AT "\n"
				     "SYSC_END,7,5,'read',5000000000,0,2," LATER "\n"
				     "SYSC_END,7,5,'read',50000000,0,3," LATER "\n"));
	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("0 0", times_of(self, "7", "1", ""));
	EXPECT_STREQ("700000 0", times_of(self, "7", "2", ""));
	EXPECT_STREQ("0 0", times_of(self, "7", "3", ""));
}

TEST_F(ends, too_many_of_one_number_are_said)
{
	char text[4096] = CALLS;
	int err;

	for (size_t at = strlen(text); at < sizeof(text) - 80; at += strlen(text + at))
		snprintf(text + at, sizeof(text) - at, "SYSC_END,7,5,'read',1000,0,1," AT "\n");
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv", text));
	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_TRUE(csv_ends__is_full(self->ends));
}

TEST_F(ends, lines_that_are_none_do_no_harm)
{
	int err;

	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv",
			       CALLS
			       "\n,,,,,,,\nSYSC_END,7,5\nSYSC_END,x,5,'read',1,0,1," AT "\n"
			       "SYSC_END,7,5,'read',-1,0,1," AT "\nSYSC_END,7,5,'read',1,0,0," AT
			       "\nSYSC_END,7,5,'read',60000000000,0,1,never\n"
			       "SYSC_END,7,5,'a,b',60000000000,0,3," AT "\n"
			       "SYSC_END,7,5,'read',60000000000,0,4," AT));
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.23.csv",
			       "SYSC_END,7,5,'read',60000000000,0,5," AT "\n"));
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.21.csv.zst.part", CALLS));
	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("0 0", times_of(self, "7", "1", ""));
	EXPECT_STREQ("60000 0", times_of(self, "7", "3", ""));
	/* A line without an end is not whole; and a file without its first line. */
	EXPECT_STREQ("0 0", times_of(self, "7", "4", ""));
	EXPECT_STREQ("0 0", times_of(self, "7", "5", ""));
}

TEST_F(ends, without_files_there_are_none)
{
	int err;

	self->ends = csv_ends__read(self->dir, NULL, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("0 0", times_of(self, "7", "1", "1"));
	csv_ends__delete(self->ends);
	self->ends = csv_ends__read("/nowhere/at/all", NULL, &err);
	EXPECT_NE(NULL, self->ends);
}

/* The first pulse goes on, the second one wants the end. */
static int stop_at_second(void *ctx)
{
	return ++*(int *)ctx == 2 ? -ECANCELED : 0;
}

TEST_F(ends, a_pulse_comes_before_each_file_and_may_end_the_reading)
{
	int nr = 0, err;
	const struct csv_pulse pulse = { .fn = stop_at_second, .ctx = &nr };

	ASSERT_TRUE(write_file(self, "xcapture_syscend_1.csv", CALLS));
	self->ends = csv_ends__read(self->dir, &pulse, &err);
	EXPECT_NE(NULL, self->ends);
	EXPECT_EQ(1, nr);
	csv_ends__delete(self->ends);
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2.csv", CALLS));
	ASSERT_TRUE(write_file(self, "xcapture_syscend_3.csv", CALLS));
	nr = 0;
	self->ends = csv_ends__read(self->dir, &pulse, &err);
	EXPECT_EQ(NULL, self->ends);
	EXPECT_EQ(-ECANCELED, err);
	EXPECT_EQ(2, nr);
}

TEST_HARNESS_MAIN
