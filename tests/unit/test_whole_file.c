/* SPDX-License-Identifier: GPL-2.0-only */
/* A file appears when it is complete; until then its predecessor stays. */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/harness.h"

FIXTURE(whole)
{
	char dir[64];
	char path[80];
	struct whole_file file;
};

FIXTURE_SETUP(whole)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/whole.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/file", self->dir);
}

FIXTURE_TEARDOWN(whole)
{
	unlink(self->path);
	EXPECT_EQ(0, rmdir(self->dir));
}

/* "-": there is no such file. */
static const char *read_text(const char *path, char buf[16])
{
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(buf, 1, 15, file) : 0;

	if (file)
		fclose(file);
	buf[len] = '\0';
	return file ? buf : "-";
}

/* Where the file system can do without; the others have no better way. */
TEST_F(whole, it_has_no_name_until_then)
{
	char name[128];
	int fd = open(self->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		SKIP(return, "no files without names here");
	close(fd);
	ASSERT_EQ(0, whole_file__open(&self->file, self->path));
	/* Empty: rmdir() does it. */
	ASSERT_EQ(0, rmdir(self->dir));
	ASSERT_NE(0, whole_file__close(&self->file, -ECANCELED));
	ASSERT_EQ(0, mkdir(self->dir, 0700));
	/* A name that is taken is another one's. */
	snprintf(name, sizeof(name), "%s.%d.0", self->path, getpid());
	ASSERT_EQ(0, symlink("nowhere", name));
	ASSERT_EQ(0, whole_file__open(&self->file, self->path));
	EXPECT_EQ(0, whole_file__close(&self->file, 0));
	EXPECT_EQ(0, access(self->path, F_OK));
	EXPECT_EQ(0, unlink(name));
}

TEST_F(whole, it_is_there_once_it_is_closed)
{
	struct stat stat_of;
	char text[16];

	umask(027);
	ASSERT_EQ(0, whole_file__open(&self->file, self->path));
	fputs("one", self->file.out);
	fflush(self->file.out);
	EXPECT_STREQ("-", read_text(self->path, text));
	EXPECT_EQ(0, whole_file__close(&self->file, 0));
	EXPECT_STREQ("one", read_text(self->path, text));
	ASSERT_EQ(0, stat(self->path, &stat_of));
	EXPECT_EQ(0640, stat_of.st_mode & 0777);
}

TEST_F(whole, what_was_there_stays_if_something_fails)
{
	char text[16];

	ASSERT_EQ(0, whole_file__open(&self->file, self->path));
	fputs("one", self->file.out);
	ASSERT_EQ(0, whole_file__close(&self->file, 0));
	ASSERT_EQ(0, whole_file__open(&self->file, self->path));
	fputs("two", self->file.out);
	EXPECT_EQ(-EIO, whole_file__close(&self->file, -EIO));
	EXPECT_STREQ("one", read_text(self->path, text));
}

TEST_F(whole, a_device_is_written_at_once_and_its_error_is_told)
{
	ASSERT_EQ(0, whole_file__open(&self->file, "/dev/full"));
	fputs("one", self->file.out);
	EXPECT_EQ(-ENOSPC, whole_file__close(&self->file, 0));
	EXPECT_EQ(-ENOENT, whole_file__open(&self->file, "/nonexistent/file"));
}

TEST_HARNESS_MAIN
