/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of hours: whole lines, what a crash left, what is compressed and what is deleted. */
#include "top/csv_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "common/captured_stderr.h"
#include "common/harness.h"
#include "top/csv_archive.h"
#include "top/csv_reader.h"
#include "top/csv_text.h"

#define SAMPLES (1U << CSV_SAMPLES)
#define HOUR_NS (3600 * 1000000000ULL)
/* 2026-01-31T10:00:00, of UTC. */
#define TEN 1769853600000000000ULL

FIXTURE(csv)
{
	char path[64];
	struct csv_dir *dir;
};

FIXTURE_SETUP(csv)
{
	int err;

	setenv("TZ", "UTC", 1);
	tzset();
	snprintf(self->path, sizeof(self->path), "/tmp/denet-csv.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	self->dir = csv_dir__open(self->path, SAMPLES, &err);
	ASSERT_NE(NULL, self->dir);
}

FIXTURE_TEARDOWN(csv)
{
	char command[128];

	csv_dir__close(self->dir);
	snprintf(command, sizeof(command), "rm -r %s", self->path);
	ASSERT_EQ(0, system(command));
}

static void name_of(const char *path, const char *hour, char *name, size_t size)
{
	snprintf(name, size, "%s/xcapture_samples_2026-01-31.%s", path, hour);
}

static bool exists(const char *path, const char *hour)
{
	char name[128];

	name_of(path, hour, name, sizeof(name));
	return !access(name, F_OK);
}

/* A line with as many fields as samples have. */
static int add_line(struct csv_dir *dir, const char *time, const char *comm)
{
	struct buffer *lines = csv_dir__lines(dir, CSV_SAMPLES);
	int err = csv_text__add(lines, "%s,1000000,2,1,0,0,RUN,'root','x',", time);

	if (!err)
		err = csv_text__add_quoted(lines, comm);
	return err ? err
		   : csv_text__add(lines, ",-,?,,0,0,0,0,0,0,0,0,0,'-','','','',0,0,5,0,,,'',"
				  "'','','',,'',,,\n");
}

static int add_hour(struct csv_dir *dir, unsigned int hour, const char *comm)
{
	char time[64];
	bool is_new;
	int err = csv_dir__turn(dir, TEN + (hour - 10) * HOUR_NS, &is_new);

	snprintf(time, sizeof(time), "2026-01-31T%02u:00:00.000000", hour);
	if (!err)
		err = add_line(dir, time, comm);
	return err ? err : csv_dir__flush(dir);
}

struct seen {
	unsigned int rows;
	char comms[64]; /* the first letter of each row's */
	uint64_t first_ns, wall_ns;
};

static int note_row(void *ctx, const struct csv_row *row)
{
	bool same = row->times.ns[ACTIVITY_TIME_STATE] == 5 && row->weight_ns == 1000000000;
	struct seen *seen = ctx;

	if (!seen->rows)
		seen->first_ns = row->wall_ns;
	seen->comms[seen->rows++] = row->texts[TOP_COLUMN_COMM][0];
	seen->wall_ns = row->wall_ns;
	return same ? 0 : -EINVAL;
}

TEST_F(csv, hours_are_files_and_are_read_in_their_order)
{
	struct seen seen = { 0 };
	uint64_t bad;
	bool is_new;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, csv_dir__turn(self->dir, TEN + HOUR_NS - 1, &is_new));
	EXPECT_FALSE(is_new);
	EXPECT_STREQ("2026-01-31.10", csv_dir__hour(self->dir));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	EXPECT_TRUE(exists(self->path, "10.csv"));
	EXPECT_TRUE(exists(self->path, "11.csv"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("ab", seen.comms);
	EXPECT_EQ(TEN + HOUR_NS, seen.wall_ns);
	EXPECT_EQ(0, bad);
}

TEST_F(csv, one_writer_at_a_time)
{
	struct csv_dir *other;
	char text[512];
	int err, saved = captured_stderr__begin();

	other = csv_dir__open(self->path, SAMPLES, &err);
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "another denet-top"));
	EXPECT_EQ(NULL, other);
	EXPECT_EQ(-EBUSY, err);
}

TEST_F(csv, what_a_crash_left_of_a_line_is_taken_away)
{
	struct seen seen = { 0 };
	char name[128];
	uint64_t bad;
	FILE *file;
	int err;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, csv_dir__close(self->dir));
	name_of(self->path, "10.csv", name, sizeof(name));
	file = fopen(name, "a");
	ASSERT_NE(NULL, file);
	fputs("2026-01-31T10:00:01.000000,1000000,7", file);
	fclose(file);
	/* A reader stops in front of it. */
	ASSERT_EQ(0, csv_reader__read(name, note_row, &seen, &bad));
	EXPECT_EQ(1, seen.rows);
	self->dir = csv_dir__open(self->path, SAMPLES, &err);
	ASSERT_NE(NULL, self->dir);
	ASSERT_EQ(0, add_hour(self->dir, 10, "b"));
	seen = (struct seen){ 0 };
	ASSERT_EQ(0, csv_reader__read(name, note_row, &seen, &bad));
	EXPECT_STREQ("ab", seen.comms);
	EXPECT_EQ(0, bad);
}

static int write_file(const char *path, const char *hour, const char *text)
{
	char name[128];
	FILE *file;

	name_of(path, hour, name, sizeof(name));
	file = fopen(name, "w");
	if (!file)
		return -errno;
	fputs(text, file);
	return fclose(file) ? -errno : 0;
}

static off_t size_of(const char *path, const char *hour)
{
	struct stat stat_buf;
	char name[128];

	name_of(path, hour, name, sizeof(name));
	return stat(name, &stat_buf) ? -1 : stat_buf.st_size;
}

TEST_F(csv, beside_a_file_with_other_columns_the_hour_has_a_further_part)
{
	const char *others = "WEIGHT_US,TIMESTAMP,COMM,STATE_NS\n"
			     "1000000,2026-01-31T10:00:00.000000,'o',5\n";
	struct seen seen = { 0 };
	uint64_t bad;
	int err;

	ASSERT_EQ(0, write_file(self->path, "10.csv", others));
	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	EXPECT_EQ((off_t)strlen(others), size_of(self->path, "10.csv"));
	EXPECT_TRUE(exists(self->path, "10.part02.csv"));
	/* Another run goes on with it, also when the clock is set back. */
	ASSERT_EQ(0, csv_dir__close(self->dir));
	self->dir = csv_dir__open(self->path, SAMPLES, &err);
	ASSERT_NE(NULL, self->dir);
	ASSERT_EQ(0, add_hour(self->dir, 10, "c"));
	EXPECT_FALSE(exists(self->path, "10.part03.csv"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("oacb", seen.comms);
}

TEST_F(csv, an_hour_that_comes_twice_in_autumn_is_one_after_the_other)
{
	struct seen seen = { 0 };
	uint64_t bad;

	ASSERT_EQ(0, write_file(self->path, "10.csv",
				"WEIGHT_US,TIMESTAMP,COMM,STATE_NS\n"
				"1000000,2026-10-25T02:00:00.000000,'a',5\n"
				"1000000,2026-10-25T02:59:59.000000,'b',5\n"
				"1000000,2026-10-25T02:00:00.000000,'c',5\n"));
	ASSERT_EQ(0, write_file(self->path, "10.part02.csv",
				"WEIGHT_US,TIMESTAMP,COMM,STATE_NS\n"
				"1000000,2026-10-25T02:10:00.000000,'d',5\n"));
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("abcd", seen.comms);
	EXPECT_EQ(1792886400000000000, seen.first_ns);
	EXPECT_EQ(1792886400000000000 + 4200 * 1000000000ULL, seen.wall_ns);
}

TEST_F(csv, links_are_not_followed)
{
	struct seen seen = { 0 };
	char name[128];
	uint64_t bad;

	ASSERT_EQ(0, write_file(self->path, "target", ""));
	name_of(self->path, "10.csv", name, sizeof(name));
	ASSERT_EQ(0, symlink("xcapture_samples_2026-01-31.target", name));
	name_of(self->path, "10.part02.csv", name, sizeof(name));
	ASSERT_EQ(0, mkfifo(name, 0600));
	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	EXPECT_EQ(0, size_of(self->path, "target"));
	name_of(self->path, "10.part03.csv", name, sizeof(name));
	ASSERT_EQ(0, csv_reader__read(name, note_row, &seen, &bad));
	EXPECT_STREQ("a", seen.comms);
}

/* Returns the error of opening it. */
static int open_again(struct csv_dir **dir, const char *path, const char *message)
{
	char text[512];
	int err, saved;

	csv_dir__close(*dir);
	saved = captured_stderr__begin();
	*dir = csv_dir__open(path, SAMPLES, &err);
	captured_stderr__end(saved, text, sizeof(text));
	return !err || strstr(text, message) ? err : -EINVAL;
}

TEST_F(csv, root_does_not_follow_the_links_of_others)
{
	char link[96];

	if (geteuid())
		SKIP(return, "not root");
	unsetenv("SUDO_UID");
	snprintf(link, sizeof(link), "%s/link", self->path);
	ASSERT_EQ(0, symlink(self->path, link));
	EXPECT_EQ(0, open_again(&self->dir, link, ""));
	ASSERT_EQ(0, lchown(link, 65534, 65534));
	EXPECT_EQ(-EPERM, open_again(&self->dir, link, "is a link that another user has made"));
	ASSERT_EQ(0, setenv("SUDO_UID", "65534", 1));
	EXPECT_EQ(0, open_again(&self->dir, link, ""));
}

/* As after a power failure: the file has its size, but not its bytes. */
TEST_F(csv, any_number_of_zeros_at_the_end_is_taken_away)
{
	struct seen seen = { 0 };
	char name[128];
	uint64_t bad;
	off_t size;

	name_of(self->path, "10.csv", name, sizeof(name));
	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	size = size_of(self->path, "10.csv");
	for (off_t more = 65000; more < 300000; more += 67000) {
		ASSERT_EQ(0, truncate(name, size + more));
		ASSERT_EQ(0, open_again(&self->dir, self->path, ""));
		ASSERT_EQ(0, csv_dir__turn(self->dir, TEN, &(bool){ false }));
		EXPECT_EQ(size, size_of(self->path, "10.csv"));
	}
	ASSERT_EQ(0, add_hour(self->dir, 10, "b"));
	ASSERT_EQ(0, csv_reader__read(name, note_row, &seen, &bad));
	EXPECT_STREQ("ab", seen.comms);
	EXPECT_EQ(0, bad);
}

static void archive_all(struct csv_dir *dir, const struct csv_archive_options *options, int *err)
{
	struct csv_archive *archive = csv_archive__new(options, csv_dir__fd(dir));
	bool more = true;

	*err = archive ? csv_archive__retain(archive, csv_dir__hour(dir), TEN + 2 * HOUR_NS)
		       : -ENOMEM;
	while (!*err && more)
		csv_archive__step(archive, csv_dir__hour(dir), &more);
	csv_archive__delete(archive);
}

TEST_F(csv, hours_that_are_over_are_compressed_and_read_as_before)
{
	const struct csv_archive_options options = { .compress = true };
	struct seen seen = { 0 };
	uint64_t bad;
	int err;

	for (unsigned int i = 0; i < 3; i++) {
		char comm[2] = { (char)('a' + i), '\0' };

		ASSERT_EQ(0, add_hour(self->dir, 10 + i, comm));
	}
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	EXPECT_FALSE(exists(self->path, "10.csv"));
	EXPECT_TRUE(exists(self->path, "10.csv.zst"));
	EXPECT_TRUE(exists(self->path, "11.csv.zst"));
	EXPECT_TRUE(exists(self->path, "12.csv"));
	EXPECT_FALSE(exists(self->path, "12.csv.zst"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("abc", seen.comms);
}

TEST_F(csv, an_hour_that_comes_again_is_compressed_beside_its_first_file)
{
	const struct csv_archive_options options = { .compress = true };
	struct seen seen = { 0 };
	uint64_t bad;
	int err;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	/* The clock is set back, and reaches the next hour again. */
	ASSERT_EQ(0, add_hour(self->dir, 10, "c"));
	EXPECT_TRUE(exists(self->path, "10.part02.csv"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "d"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	EXPECT_TRUE(exists(self->path, "10.csv.zst"));
	EXPECT_TRUE(exists(self->path, "10.part02.csv.zst"));
	EXPECT_FALSE(exists(self->path, "10.part02.csv"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("acbd", seen.comms);
}

TEST_F(csv, an_hour_that_comes_again_while_it_is_compressed_stays_plain)
{
	const struct csv_archive_options options = { .compress = true };
	struct csv_archive *archive;
	struct seen seen = { 0 };
	bool more = true;
	uint64_t bad;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	archive = csv_archive__new(&options, csv_dir__fd(self->dir));
	ASSERT_NE(NULL, archive);
	csv_archive__step(archive, csv_dir__hour(self->dir), &more);
	EXPECT_TRUE(more);
	ASSERT_EQ(0, add_hour(self->dir, 10, "c"));
	while (more)
		csv_archive__step(archive, csv_dir__hour(self->dir), &more);
	ASSERT_EQ(0, add_hour(self->dir, 10, "d"));
	csv_archive__delete(archive);
	EXPECT_TRUE(exists(self->path, "10.csv"));
	EXPECT_FALSE(exists(self->path, "10.csv.zst"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("acdb", seen.comms);
}

static int copy_file(const char *path, const char *from, const char *to)
{
	char command[512], a[128], b[128];

	name_of(path, from, a, sizeof(a));
	name_of(path, to, b, sizeof(b));
	snprintf(command, sizeof(command), "cp %s %s", a, b);
	return system(command);
}

TEST_F(csv, an_hour_whose_plain_file_a_crash_has_left_counts_once)
{
	const struct csv_archive_options options = { .compress = true };
	struct seen seen = { 0 };
	uint64_t bad;
	int err;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, copy_file(self->path, "10.csv", "saved"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, copy_file(self->path, "saved", "10.csv"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("ab", seen.comms);
	archive_all(self->dir, &options, &err);
	EXPECT_FALSE(exists(self->path, "10.csv"));
	EXPECT_FALSE(exists(self->path, "10.part02.csv.zst"));
	/* A plain file with other lines is another recording of the hour. */
	ASSERT_EQ(0, copy_file(self->path, "11.csv", "10.csv"));
	seen = (struct seen){ 0 };
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("bab", seen.comms);
	archive_all(self->dir, &options, &err);
	EXPECT_TRUE(exists(self->path, "10.part02.csv.zst"));
	seen = (struct seen){ 0 };
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("abb", seen.comms);
}

TEST_F(csv, what_a_killed_writer_has_not_finished_is_deleted_also_without_compressing)
{
	const struct csv_archive_options options = { 0 };
	char name[128], other[128];
	int err;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	snprintf(name, sizeof(name), "%s/.xcapture_samples_2026-01-31.09.csv.zst.part", self->path);
	snprintf(other, sizeof(other), "%s/.xcapture_own_2026-01-31.09.csv.zst.part", self->path);
	ASSERT_EQ(0, close(creat(name, 0600)));
	ASSERT_EQ(0, close(creat(other, 0600)));
	archive_all(self->dir, &options, &err);
	EXPECT_NE(0, access(name, F_OK));
	EXPECT_EQ(0, access(other, F_OK));
}

TEST_F(csv, a_file_that_cannot_be_compressed_stays_and_so_do_later_ones)
{
	const struct csv_archive_options options = { .compress = true };
	char name[128], part[160], text[512];
	int err, saved;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	ASSERT_EQ(0, add_hour(self->dir, 12, "c"));
	/* A directory is where its compressed form would begin. */
	name_of(self->path, "10.csv", name, sizeof(name));
	snprintf(part, sizeof(part), "%s/.%s.zst.part", self->path, strrchr(name, '/') + 1);
	ASSERT_EQ(0, mkdir(part, 0700));
	saved = captured_stderr__begin();
	archive_all(self->dir, &options, &err);
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_EQ(0, err);
	EXPECT_NE(NULL, strstr(text, "cannot compress"));
	EXPECT_TRUE(exists(self->path, "10.csv"));
	EXPECT_TRUE(exists(self->path, "11.csv"));
	EXPECT_EQ(0, rmdir(part));
}

TEST_F(csv, a_compressed_file_that_is_cut_or_broken_is_an_error)
{
	const struct csv_archive_options options = { .compress = true };
	char name[128], text[512];
	struct seen seen = { 0 };
	uint64_t bad;
	int err, saved;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	name_of(self->path, "10.csv.zst", name, sizeof(name));
	ASSERT_EQ(0, csv_reader__read(name, note_row, &seen, &bad));
	EXPECT_STREQ("a", seen.comms);
	for (off_t size = 100; size > 4; size -= 48) {
		ASSERT_EQ(0, truncate(name, size));
		saved = captured_stderr__begin();
		EXPECT_EQ(-EIO, csv_reader__read(name, note_row, &seen, &bad));
		captured_stderr__end(saved, text, sizeof(text));
		EXPECT_NE(NULL, strstr(text, "broken or cut"));
	}
}

/* A line of so many bytes, or with a NUL in it, as after a power failure. */
TEST_F(csv, what_is_no_line_of_ours_costs_that_line_only)
{
	static char long_text[300000];
	struct seen seen = { 0 };
	struct buffer *lines;
	uint64_t bad = 0;

	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\n';
	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, buffer__append(csv_dir__lines(self->dir, CSV_SAMPLES), long_text,
				    sizeof(long_text)));
	ASSERT_EQ(0, add_hour(self->dir, 10, "b"));
	/* Without the NUL it would be a line. */
	ASSERT_EQ(0, add_line(self->dir, "2026-01-31T10:00:00.000000", "x"));
	lines = csv_dir__lines(self->dir, CSV_SAMPLES);
	lines->data[lines->len - 1] = '\0';
	ASSERT_EQ(0, csv_text__add(lines, "\n"));
	ASSERT_EQ(0, add_hour(self->dir, 10, "c"));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("abc", seen.comms);
	EXPECT_EQ(2, bad);
}

TEST_F(csv, files_of_gzip_are_read)
{
	struct seen seen = { 0 };
	char command[512], name[128], text[512];
	uint64_t bad;
	int saved;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	snprintf(command, sizeof(command), "gzip %s/xcapture_samples_*10.csv", self->path);
	ASSERT_EQ(0, system(command));
	ASSERT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	EXPECT_STREQ("ab", seen.comms);
	/* A file of gzip without its end is an error. */
	snprintf(command, sizeof(command), "truncate -s -20 %s/xcapture_samples_*10.csv.gz",
		 self->path);
	ASSERT_EQ(0, system(command));
	name_of(self->path, "10.csv.gz", name, sizeof(name));
	saved = captured_stderr__begin();
	EXPECT_EQ(-EIO, csv_reader__read(name, note_row, &seen, &bad));
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "broken or cut"));
}

/* A file that is cut, one of others, and a FIFO, which nobody writes into. */
TEST_F(csv, what_cannot_be_read_in_a_directory_is_left_out)
{
	struct seen seen = { 0 };
	char command[512], text[1024];
	unsigned long errors = log__nr_errors();
	uint64_t bad;
	int saved;

	for (unsigned int hour = 10; hour < 14; hour++)
		ASSERT_EQ(0, add_hour(self->dir, hour, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 14, "e"));
	snprintf(command, sizeof(command),
		 "cd %s && gzip *.10.csv && truncate -s 30 *.10.csv.gz && "
		 "echo a,b,c >$(ls *.11.csv) && rm *.12.csv *.13.csv && "
		 "mkfifo xcapture_samples_2026-01-31.12.csv", self->path);
	ASSERT_EQ(0, system(command));
	saved = captured_stderr__begin();
	EXPECT_EQ(0, csv_reader__read(self->path, note_row, &seen, &bad));
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_STREQ("e", seen.comms);
	EXPECT_EQ(errors, log__nr_errors());
	EXPECT_NE(NULL, strstr(text, ".10.csv.gz: the file is broken or cut"));
	EXPECT_NE(NULL, strstr(text, ".11.csv: not a file of samples"));
	EXPECT_NE(NULL, strstr(text, ".12.csv: not a file of samples"));
	/* Without any other, that is an error. */
	snprintf(command, sizeof(command), "rm %s/*.14.csv", self->path);
	ASSERT_EQ(0, system(command));
	saved = captured_stderr__begin();
	EXPECT_EQ(-EIO, csv_reader__read(self->path, note_row, &seen, &bad));
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "no file that can be read whole"));
}

static int refuse_row(void *ctx, const struct csv_row *row)
{
	(void)ctx;
	(void)row;
	return -EIO;
}

TEST_F(csv, an_error_of_the_caller_ends_the_reading)
{
	uint64_t bad;
	char text[512];
	int saved;

	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	saved = captured_stderr__begin();
	EXPECT_EQ(-EIO, csv_reader__read(self->path, refuse_row, NULL, &bad));
	captured_stderr__end(saved, text, sizeof(text));
	EXPECT_STREQ("", text);
}

TEST_F(csv, old_files_go_but_never_the_present_hour)
{
	const struct csv_archive_options by_age = { .max_ns = HOUR_NS / 2 };
	const struct csv_archive_options by_size = { .max_bytes = 1 };
	char name[128];
	FILE *file;
	int err;

	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(0, add_hour(self->dir, 10 + i, "a"));
	/* Not ours. */
	name_of(self->path, "01.txt", name, sizeof(name));
	file = fopen(name, "w");
	ASSERT_NE(NULL, file);
	fclose(file);
	archive_all(self->dir, &by_age, &err);
	ASSERT_EQ(0, err);
	EXPECT_FALSE(exists(self->path, "10.csv"));
	EXPECT_TRUE(exists(self->path, "11.csv"));
	archive_all(self->dir, &by_size, &err);
	ASSERT_EQ(0, err);
	EXPECT_FALSE(exists(self->path, "11.csv"));
	EXPECT_TRUE(exists(self->path, "12.csv"));
	EXPECT_TRUE(exists(self->path, "01.txt"));
}

static int make_file(const char *dir, const char *name, off_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT, 0666);
	if (fd < 0 || ftruncate(fd, size))
		return -1;
	return close(fd);
}

TEST_F(csv, files_that_have_no_hour_are_those_of_others)
{
	static const char *const names[] = {
		"xcapture_samples_2025-01-31-v1.csv", "xcapture_samples_2025-01-31.1x.csv",
		"xcapture_samples_2025-01-31 10.csv", "xcapture_samples_aaaaaaaaaaaaa.csv",
		"xcapture_samples_2025-01-3.csv",
	};
	const struct csv_archive_options options = { .compress = true, .max_bytes = 1,
						     .max_ns = HOUR_NS };
	char path[256];
	int err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ASSERT_EQ(0, make_file(self->path, names[i], 10));
	ASSERT_EQ(0, add_hour(self->dir, 12, "a"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->path, names[i]);
		EXPECT_EQ(0, access(path, F_OK));
	}
}

TEST_F(csv, files_of_later_hours_do_not_count)
{
	const struct csv_archive_options options = { .max_bytes = 100000 };
	int err;

	ASSERT_EQ(0, make_file(self->path, "xcapture_samples_2037-01-31.10.csv", 1000000));
	ASSERT_EQ(0, add_hour(self->dir, 11, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 12, "b"));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	EXPECT_TRUE(exists(self->path, "11.csv"));
	/* The present hour's do. */
	ASSERT_EQ(0, make_file(self->path, "xcapture_kstacks_2026-01-31.12.csv", 1000000));
	archive_all(self->dir, &options, &err);
	ASSERT_EQ(0, err);
	EXPECT_FALSE(exists(self->path, "11.csv"));
	EXPECT_TRUE(exists(self->path, "12.csv"));
}

TEST_F(csv, what_is_over_is_looked_for_once_an_hour)
{
	const struct csv_archive_options options = { .compress = true };
	struct csv_archive *archive = csv_archive__new(&options, csv_dir__fd(self->dir));
	bool more = true;

	ASSERT_NE(NULL, archive);
	ASSERT_EQ(0, add_hour(self->dir, 10, "a"));
	ASSERT_EQ(0, add_hour(self->dir, 11, "b"));
	while (more)
		csv_archive__step(archive, "2026-01-31.11", &more);
	EXPECT_TRUE(exists(self->path, "10.csv.zst"));
	ASSERT_EQ(0, make_file(self->path, "xcapture_samples_2026-01-31.09.csv", 10));
	csv_archive__step(archive, "2026-01-31.11", &more);
	EXPECT_FALSE(more);
	csv_archive__step(archive, "2026-01-31.12", &more);
	EXPECT_TRUE(more);
	while (more)
		csv_archive__step(archive, "2026-01-31.12", &more);
	EXPECT_TRUE(exists(self->path, "09.csv.zst"));
	EXPECT_TRUE(exists(self->path, "11.csv.zst"));
	csv_archive__delete(archive);
}

TEST_HARNESS_MAIN
