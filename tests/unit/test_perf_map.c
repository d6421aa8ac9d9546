/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines and files that runtimes write of the code that they make. */
#include "symbol/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/harness.h"

static int parse(const char *line, uint64_t *start, uint64_t *size, char *out, size_t out_size)
{
	const char *name;
	size_t len;
	int err = perf_map__parse_line(line, strlen(line), start, size, &name, &len);

	if (!err)
		snprintf(out, out_size, "%.*s", (int)len, name);
	return err;
}

TEST(lines)
{
	uint64_t start, size;
	char name[64];

	ASSERT_EQ(0, parse("7f00AB10 2c LazyCompile:~main /tmp/x.js:1", &start, &size, name, 64));
	EXPECT_EQ(0x7f00ab10, start);
	EXPECT_EQ(0x2c, size);
	EXPECT_STREQ("LazyCompile:~main /tmp/x.js:1", name);
	ASSERT_EQ(0, parse("0x10 0x1 py::f", &start, &size, name, 64));
	EXPECT_EQ(0x10, start);
	EXPECT_STREQ("py::f", name);
}

TEST(lines_that_are_none)
{
	static const char *const lines[] = { "",
					     "10",
					     "10 ",
					     "10 2",
					     "10 2 ",
					     "x 2 f",
					     "10  2 f",
					     "10 0 f",
					     "ffffffffffffffff 2 f",
					     "1ffffffffffffffff 2 f",
					     "0x 2 f" };
	uint64_t start, size;
	char name[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		EXPECT_EQ(-EINVAL, parse(lines[i], &start, &size, name, sizeof(name)));
}

/* A file for this process, last written at a time. */
static int write_map(char *path, size_t size, time_t written)
{
	const struct timespec times[2] = { { .tv_sec = written }, { .tv_sec = written } };
	FILE *file;

	snprintf(path, size, "/tmp/perf-%d.map", getpid());
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fputs("1000 10 first\n1000 8 second\n", file);
	fclose(file);
	return utimensat(AT_FDCWD, path, times, 0) ? -errno : 0;
}

static int keep_last(void *ctx, uint64_t start, uint64_t end, const char *name, size_t len)
{
	snprintf(ctx, 64, "%jx-%jx %.*s", (uintmax_t)start, (uintmax_t)end, (int)len, name);
	return 0;
}

TEST(the_file_of_a_process_that_lives)
{
	char path[64], last[64] = "";
	int fd;

	ASSERT_EQ(0, write_map(path, sizeof(path), time(NULL)));
	fd = perf_map__open(getpid(), clock__now_ns(), 0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, perf_map__each(fd, keep_last, last));
	EXPECT_STREQ("1000-1008 second", last);
	close(fd);
	unlink(path);
}

TEST(a_file_that_an_earlier_process_left_is_not_taken)
{
	char path[64];

	ASSERT_EQ(0, write_map(path, sizeof(path), time(NULL) - 86400));
	EXPECT_EQ(-ESTALE, perf_map__open(getpid(), clock__now_ns(), 0));
	unlink(path);
	EXPECT_EQ(-ENOENT, perf_map__open(getpid(), clock__now_ns(), 0));
}

TEST_HARNESS_MAIN
