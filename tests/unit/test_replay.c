/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings as tables, whatever times and weights their rows have. */
#include "top/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "common/captured_stderr.h"
#include "common/harness.h"

#define HEADING "TIMESTAMP,WEIGHT_US,STATE\n"

FIXTURE(replay)
{
	char path[64];
	char out[4096];
	char err[512];
};

FIXTURE_SETUP(replay)
{
	int fd;

	setenv("TZ", "UTC", 1);
	tzset();
	snprintf(self->path, sizeof(self->path), "/tmp/denet-replay.XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	close(fd);
}

FIXTURE_TEARDOWN(replay)
{
	unlink(self->path);
}

static int write_rows(const char *path, const char *rows)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fputs(HEADING, file);
	fputs(rows, file);
	return fclose(file);
}

/* Prints the tables of these rows into out, and the log into err. */
static int print(FIXTURE_DATA(replay) * self, const char *rows, uint64_t interval_ns)
{
	FILE *out = fmemopen(self->out, sizeof(self->out), "w");
	const struct batch_options batch = { .columns = { TOP_COLUMN_STATE }, .nr_columns = 1,
					     .top = 9 };
	const struct replay_options options = { .path = self->path, .batch = &batch,
						.interval_ns = interval_ns, .out = out };
	int saved, err;

	if (!out || write_rows(self->path, rows))
		return -1;
	saved = captured_stderr__begin();
	err = replay__run(&options);
	captured_stderr__end(saved, self->err, sizeof(self->err));
	fclose(out);
	return err;
}

TEST_F(replay, rows_become_shares_of_time)
{
	ASSERT_EQ(0, print(self,
			   "2026-01-31T10:00:00.000000,1000000,RUN\n"
			   "2026-01-31T10:00:01.000000,1000000,RUN\n"
			   "2026-01-31T10:00:01.000000,1000000,DISK\n", 0));
	EXPECT_NE(NULL, strstr(self->out, "2026-01-31T10:00:00  2.000 s, 2 looks: 1.50 threads"));
	EXPECT_NE(NULL, strstr(self->out, " 1.00 66.7%  ########  RUN"));
	EXPECT_STREQ("", self->err);
}

TEST_F(replay, the_epoch_is_a_time_like_others)
{
	ASSERT_EQ(0, print(self,
			   "1970-01-01T00:00:00,1000000,RUN\n"
			   "1970-01-01T00:00:00,1000000,DISK\n"
			   "1970-01-01T00:00:01,1000000,RUN\n", 0));
	EXPECT_NE(NULL, strstr(self->out, "1970-01-01T00:00:00  2.000 s, 2 looks: 1.50 threads"));
	ASSERT_EQ(0, print(self,
			   "1970-01-01T00:00:00,1000000,RUN\n"
			   "1970-01-01T00:00:02,1000000,RUN\n", NSEC_PER_SEC));
	EXPECT_NE(NULL, strstr(self->out, "1970-01-01T00:00:00"));
	EXPECT_NE(NULL, strstr(self->out, "1970-01-01T00:00:02"));
}

TEST_F(replay, no_look_stands_for_more_than_a_day)
{
	ASSERT_EQ(0, print(self,
			   "2026-01-31T10:00:00,86400000000,RUN\n"
			   "2026-01-31T10:00:01,86400000001,RUN\n"
			   "2026-01-31T10:00:02,18446744073709551,RUN\n"
			   "2026-01-31T10:00:02,18446744073709551615,DISK\n"
			   "2562-01-31T10:00:02,1,RUN\n", 0));
	EXPECT_NE(NULL, strstr(self->out, " 1 looks: 1.00 threads active"));
	EXPECT_NE(NULL, strstr(self->out, "100.0%  ############  RUN"));
	EXPECT_NE(NULL, strstr(self->err, "4 lines were cut or broken"));
}

TEST_F(replay, rows_may_be_out_of_order)
{
	ASSERT_EQ(0, print(self,
			   "2200-01-01T00:00:00,1000000,RUN\n"
			   "1970-01-01T00:00:00,1000000,DISK\n"
			   "2026-01-31T10:00:00,1000000,RUN\n", 0));
	EXPECT_NE(NULL, strstr(self->out, " 3 looks: 1.00 threads active"));
	EXPECT_NE(NULL, strstr(self->out, "66.7%"));
}

TEST_HARNESS_MAIN
