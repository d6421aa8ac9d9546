/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's cache of files by build-id. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/harness.h"
#include "common/tolerance.h"

#include "symbol/cache.h"

static uint64_t room = CACHE_MAX_BYTES;

FIXTURE(cache)
{
	char dir[64];
	int dir_fd;
	int file_fd;
	struct cache_item item;
};

FIXTURE_SETUP(cache)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-cache.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	self->dir_fd = open(self->dir, O_RDONLY | O_DIRECTORY);
	ASSERT_GE(self->dir_fd, 0);
	self->file_fd = open("/proc/self/exe", O_RDONLY);
	ASSERT_GE(self->file_fd, 0);
	memset(&self->item, 0, sizeof(self->item));
	self->item.path = (char *)"/a b/prog";
	self->item.id[0] = 0xab;
	self->item.id[1] = 0xcd;
	self->item.len = 2;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

FIXTURE_TEARDOWN(cache)
{
	close(self->dir_fd);
	close(self->file_fd);
	nftw(self->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TEST_F(cache, a_file_lies_where_perf_looks_and_its_link_leads_there)
{
	struct stat copy, file;
	char link[128] = "";

	ASSERT_EQ(0, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
	ASSERT_EQ(0, fstatat(self->dir_fd, ".build-id/ab/cd/elf", &copy, 0));
	ASSERT_EQ(0, fstat(self->file_fd, &file));
	EXPECT_EQ(file.st_size, copy.st_size);
	EXPECT_GT(readlinkat(self->dir_fd, ".build-id/ab/cd", link, sizeof(link) - 1), 0);
	EXPECT_STREQ("../../a b/prog/abcd", link);
	/* And once more, which changes nothing. */
	EXPECT_EQ(0, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
}

TEST_F(cache, a_path_does_not_lead_out_of_it)
{
	self->item.path = (char *)"/../../prog";
	EXPECT_EQ(-EINVAL, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
	ASSERT_EQ(0, symlinkat("/tmp", self->dir_fd, "link"));
	self->item.path = (char *)"/link/prog";
	EXPECT_EQ(-ENOTDIR, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
}

TEST_F(cache, an_id_of_no_or_too_great_length_is_refused)
{
	self->item.len = 0;
	EXPECT_EQ(-EINVAL, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
	self->item.len = BUILD_ID_MAX + 1;
	EXPECT_EQ(-EINVAL, cache__copy(self->dir_fd, &self->item, self->file_fd, &room));
}

TEST_F(cache, what_is_wanted_twice_is_there_once_and_a_file_that_is_not_there_says_so)
{
	static const unsigned char id[BUILD_ID_MAX] = { 1 };
	struct cache cache = { 0 };

	setenv("HOME", self->dir, 1);
	ASSERT_EQ(0, cache__want(&cache, CACHE_FILE, 0, "/no/such/file", id, 20));
	ASSERT_EQ(0, cache__want(&cache, CACHE_FILE, 0, "/no/such/file", id, 20));
	ASSERT_EQ(0, cache__want(&cache, CACHE_FILE, 0, "/proc/self/exe", id, 20));
	ASSERT_EQ(0, cache__want(&cache, CACHE_VDSO, 0, "[vdso]", id, 20));
	EXPECT_EQ(3, cache.nr);
	ASSERT_EQ(0, cache__fill(&cache, 5000));
	EXPECT_EQ(-ENOENT, cache.items[0].err);
	EXPECT_EQ(0, cache.items[2].err);
	cache__free(&cache);
}

TEST_F(cache, a_file_that_has_another_build_id_by_now_is_not_copied)
{
	unsigned char id[BUILD_ID_MAX] = { 0 };
	char path[PATH_MAX] = "";
	struct cache cache = { 0 };
	int len;

	setenv("HOME", self->dir, 1);
	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	len = build_id__of_file(0, path, id);
	if (len <= 0)
		SKIP(return, "the linker gives no build-ids");
	ASSERT_EQ(0, cache__want(&cache, CACHE_FILE, 0, path, id, (size_t)len));
	id[0] ^= 1;
	ASSERT_EQ(0, cache__want(&cache, CACHE_FILE, 0, path, id, (size_t)len));
	ASSERT_EQ(0, cache__fill(&cache, 1000 * (int)tolerance__wait_seconds()));
	EXPECT_EQ(0, cache.items[0].err);
	EXPECT_EQ(-ESTALE, cache.items[1].err);
	cache__free(&cache);
}

TEST_HARNESS_MAIN
