/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of what has ended become lines of CSV as xcapture writes them. */
#include "top/completion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/harness.h"
#include "top/csv_completions.h"
#include "top/wall_time.h"

static const struct track_wire_call a_call = {
	.head = { TRACK_WIRE_CALL, sizeof(a_call) },
	.entered = 1000000500,
	.ns = 1234,
	.seq = 8,
	.ret = -4,
	.nr = SYS_read,
	.pid = 41,
	.tid = 42,
};

static const struct track_wire_done a_request = {
	.head = { TRACK_WIRE_REQUEST, sizeof(a_request) },
	.time = 2000,
	.request = { .start = 1000,
		     .inserted = 1100,
		     .issued = 1300,
		     .seq = 3,
		     .sector = 2048,
		     .bytes = 4096,
		     .dev = 259 << 20 | 7,
		     .insert_pid = 41,
		     .insert_tid = 42,
		     .issue_pid = 51,
		     .issue_tid = 52,
		     .flags = 1 | TRACK_WIRE_IO_SYNC | TRACK_WIRE_IO_FUA },
	.pid = 61,
	.tid = 62,
	.error = 10,
};

/* The line of a record; valid until the next one. */
static const char *line_of(struct buffer *lines, const void *record, size_t size)
{
	struct completion completion;

	lines->len = 0;
	if (completion__decode(record, size, &completion) ||
	    csv_completions__add(lines, &completion, 0) || buffer__append(lines, "", 1))
		return "refused";
	return lines->data;
}

TEST(lines)
{
	struct track_wire_call call = a_call;
	struct track_wire_done done = a_request;
	struct buffer lines = { 0 };

	setenv("TZ", "UTC", 1);
	tzset();
	EXPECT_STREQ("SYSC_END,42,41,'read',1234,-4,8,1970-01-01T00:00:01.000000\n",
		     line_of(&lines, &call, sizeof(call)));
	call.ret = (16 << 20) + 1;
	EXPECT_STREQ("SYSC_END,42,41,'read',1234,0x1000001,8,1970-01-01T00:00:01.000000\n",
		     line_of(&lines, &call, sizeof(call)));
	EXPECT_STREQ("IORQ_END,42,41,52,51,62,61,259,7,2048,4096,'WRITE|SYNC|FUA',3,1000,700,300,"
		     "1970-01-01T00:00:00.000001,10\n",
		     line_of(&lines, &done, sizeof(done)));
	/* The kernel does not tell when it was made, nor was it seen to be issued. */
	done.request.start = done.request.issued = done.request.flags = 0;
	EXPECT_STREQ("IORQ_END,42,41,52,51,62,61,259,7,2048,4096,'READ',3,900,900,0,"
		     "1970-01-01T00:00:00.000001,10\n",
		     line_of(&lines, &done, sizeof(done)));
	buffer__free(&lines);
}

TEST(broken_records)
{
	struct completion completion;
	struct track_wire_call call = a_call;

	for (size_t size = 0; size < sizeof(call); size++)
		EXPECT_EQ(-EINVAL, completion__decode(&call, size, &completion));
	call.head.kind++;
	EXPECT_EQ(-EINVAL, completion__decode(&call, sizeof(call), &completion));
	call.head.kind = 1;
	EXPECT_EQ(-EINVAL, completion__decode(&call, sizeof(call), &completion));
}

TEST(flags)
{
	char buf[64], small[8];

	EXPECT_STREQ("FLUSH", completion__put_flags(2, buf, sizeof(buf)));
	EXPECT_STREQ("OP_15|RA",
		     completion__put_flags(15 | TRACK_WIRE_IO_RAHEAD, buf, sizeof(buf)));
	EXPECT_STREQ("READ|ME", completion__put_flags(TRACK_WIRE_IO_META, small, sizeof(small)));
}

TEST(the_time_of_one_moment_is_told_alike)
{
	uint64_t lead = 0, first = wall_time__steady_lead(&lead);

	for (int i = 0; i < 1000; i++)
		EXPECT_EQ(first, wall_time__steady_lead(&lead));
	/* The time was set. */
	lead -= 10000000;
	EXPECT_NE(lead, wall_time__steady_lead(&lead) - 1);
	EXPECT_GT(1000000, first > lead ? first - lead : lead - first);
}

TEST_HARNESS_MAIN
