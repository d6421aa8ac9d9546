/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples get the times of calls and requests that ended later, by thread and number. */
#include "top/csv_ends.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"

#define CALLS "TYPE,TID,TGID,SYSCALL_NAME,DURATION_NS,SYSC_RET_VAL,SYSC_SEQ_NUM,SYSC_ENTER_TIME\n"
#define REQUESTS "TYPE,INSERT_TID,IORQ_SEQ_NUM,DURATION_NS\n"

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

/* The times of a sample's call and request. */
static const char *times_of(const data *self, const char *tid, const char *call,
			    const char *request)
{
	static char both[32];
	const char *texts[TOP_COLUMNS];

	for (int i = 0; i < TOP_COLUMNS; i++)
		texts[i] = "";
	texts[TOP_COLUMN_TID] = tid;
	texts[TOP_COLUMN_SYSC_SEQ] = call;
	texts[TOP_COLUMN_SYSC_TIME] = "so far";
	texts[TOP_COLUMN_IORQ_SEQ] = request;
	csv_ends__put(self->ends, texts);
	snprintf(both, sizeof(both), "%s %s", texts[TOP_COLUMN_SYSC_TIME],
		 texts[TOP_COLUMN_IORQ_TIME]);
	return both;
}

TEST_F(ends, calls_and_requests_have_their_times)
{
	char path[96];
	int err;

	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv",
			       CALLS "SYSC_END,7,5,'read',9999,0,1,T\n"
				     "SYSC_END,7,5,'read',10000,0,2,T\n"));
	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.23.csv",
			       CALLS "SYSC_END,8,5,'read',99999999999,0,1,T\n"));
	ASSERT_TRUE(write_file(self, "xcapture_iorqend_2026-01-31.23.csv",
			       REQUESTS "IORQ_END,7,1,1000000\n"));
	ASSERT_TRUE(write_file(self, "xcapture_samples_2026-01-31.23.csv", "\n"));
	self->ends = csv_ends__read(self->dir, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("<10us 1ms+", times_of(self, "7", "1", "1"));
	EXPECT_STREQ("10us+ ", times_of(self, "7", "2", "2"));
	EXPECT_STREQ("10s+ ", times_of(self, "8", "1", "1"));
	/* 0 is the number of no call. */
	EXPECT_STREQ("so far ", times_of(self, "7", "0", "0"));
	EXPECT_STREQ("so far ", times_of(self, "9", "1", ""));
	EXPECT_STREQ("so far ", times_of(self, "", "1", "1"));
	csv_ends__delete(self->ends);
	/* Those beside a file of samples. */
	snprintf(path, sizeof(path), "%s/xcapture_samples_2026-01-31.23.csv", self->dir);
	self->ends = csv_ends__read(path, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("10s+ ", times_of(self, "8", "1", ""));
}

TEST_F(ends, lines_that_are_none_do_no_harm)
{
	int err;

	ASSERT_TRUE(write_file(self, "xcapture_syscend_2026-01-31.22.csv",
			       "SYSC_END,7,5,'read',9999,0,1,T\n" /* before the names */
			       CALLS
			       "\n,,,,,,,\nSYSC_END,7,5\nSYSC_END,x,5,'read',1,0,1,T\n"
			       "SYSC_END,7,5,'read',-1,0,1,T\nSYSC_END,7,5,'read',1,0,0,T\n"
			       "TYPE,OTHER\nSYSC_END,7,5,'read',1,0,1,T\nSYSC_END,7\n" CALLS
			       "SYSC_END,7,5,'a,b',1000000,0,3,T\nSYSC_END,7,5,'read',1,0,4"));
	self->ends = csv_ends__read(self->dir, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("so far ", times_of(self, "7", "1", ""));
	EXPECT_STREQ("1ms+ ", times_of(self, "7", "3", ""));
	EXPECT_STREQ("so far ", times_of(self, "7", "4", ""));
}

TEST_F(ends, without_files_there_are_none)
{
	int err;

	self->ends = csv_ends__read(self->dir, &err);
	ASSERT_NE(NULL, self->ends);
	EXPECT_STREQ("so far ", times_of(self, "7", "1", "1"));
	csv_ends__delete(self->ends);
	self->ends = csv_ends__read("/nowhere/at/all", &err);
	EXPECT_NE(NULL, self->ends);
}

TEST_HARNESS_MAIN
