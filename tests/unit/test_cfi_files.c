/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of mapped files, made in a child, are those that are made here. */
#include "cfi/cfi_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/harness.h"

#define DEADLINE_MS 20000

/* The code of the C library in this process; path has room for 256 bytes. */
static int find_libc(struct cfi_file *file, char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], prot[8];
	int err = -ENOENT;

	while (maps && err && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %255s", &file->start,
			   &file->end, prot, path) == 4 &&
		    prot[2] == 'x' && strstr(path, "/libc.so"))
			err = 0;
	}
	if (maps)
		fclose(maps);
	file->pid = getpid();
	return err;
}

static bool may_open(const struct cfi_file *file)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, file->start,
		 file->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* An executable mapping of a new file of some bytes; its descriptor, or -errno. */
static int map_bytes(struct cfi_file *file, const char *text, size_t size)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	void *at;

	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		return -errno;
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*file = (struct cfi_file){ .pid = getpid(), .start = (uintptr_t)at,
				   .end = (uintptr_t)at + 4096 };
	return fd;
}

/* Rules of frames are made for this architecture. */
static bool has_tables(void)
{
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

TEST(the_table_of_a_mapping_is_that_of_its_file)
{
	struct cfi_file files[2] = { 0 };
	struct cfi_table here = { 0 };
	char path[256];
	Elf *elf;
	int fd;

	if (!has_tables())
		SKIP(return, "rules of frames are made for x86-64 only");
	ASSERT_EQ(0, find_libc(&files[0], path));
	if (!may_open(&files[0]))
		SKIP(return, "mappings may not be opened here: nothing was compared");
	ASSERT_EQ(0, cfi_files__make(files, 2, DEADLINE_MS));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ASSERT_EQ(0, cfi_table__make(&here, elf));
	ASSERT_EQ(0, files[0].err);
	EXPECT_EQ(here.start, files[0].table.start);
	EXPECT_EQ(here.nr_pages, files[0].table.nr_pages);
	ASSERT_EQ(here.nr_words, files[0].table.nr_words);
	EXPECT_EQ(0, memcmp(here.words, files[0].table.words, here.nr_words * sizeof(uint32_t)));
	ASSERT_EQ(here.nr_wides, files[0].table.nr_wides);
	EXPECT_EQ(0, memcmp(here.wides, files[0].table.wides,
			    here.nr_wides * sizeof(struct cfi_wide)));
	/* The vDSO. */
	EXPECT_EQ(0, files[1].err);
	EXPECT_LT(0, files[1].table.nr_words);
	elf_end(elf);
	close(fd);
	cfi_table__free(&here);
	cfi_table__free(&files[0].table);
	cfi_table__free(&files[1].table);
}

TEST(files_without_a_table_say_why_and_cost_the_others_nothing)
{
	struct cfi_file files[4] = { 0 };
	char path[256];
	int fd;

	if (!has_tables())
		SKIP(return, "rules of frames are made for x86-64 only");
	ASSERT_EQ(0, find_libc(&files[3], path));
	if (!may_open(&files[3]))
		SKIP(return, "mappings may not be opened here: nothing was asked");
	fd = map_bytes(&files[0], "#!/bin/sh\n", 10);
	ASSERT_LE(0, fd);
	/* A header, and nothing behind it. */
	ASSERT_LE(0, map_bytes(&files[1], ELFMAG "\2\1\1", 7));
	/* Nothing is mapped there. */
	files[2] = (struct cfi_file){ .pid = getpid(), .start = 4096, .end = 8192 };
	ASSERT_EQ(0, cfi_files__make(files, 4, DEADLINE_MS));
	EXPECT_EQ(-ENOEXEC, files[0].err);
	EXPECT_EQ(-ENOEXEC, files[1].err);
	EXPECT_EQ(-ESRCH, files[2].err);
	EXPECT_EQ(0, files[3].err);
	for (int i = 0; i < 4; i++)
		cfi_table__free(&files[i].table);
	close(fd);
}

TEST(a_file_that_follows_another_in_its_place_is_not_taken_for_that)
{
	struct cfi_file files[3] = { 0 };
	struct stat st;
	char path[256];
	int fd;

	if (!has_tables())
		SKIP(return, "rules of frames are made for x86-64 only");
	ASSERT_EQ(0, find_libc(&files[0], path));
	if (!may_open(&files[0]))
		SKIP(return, "mappings may not be opened here: nothing was asked");
	ASSERT_EQ(0, stat(path, &st));
	files[0].ino = st.st_ino;
	files[0].dev = major(st.st_dev) << 20 | minor(st.st_dev);
	files[1] = files[0];
	files[1].ino++;
	/* In memory, on a device of its own. */
	fd = map_bytes(&files[2], ELFMAG "\2\1\1", 7);
	ASSERT_LE(0, fd);
	files[2].ino = files[0].ino;
	files[2].dev = files[0].dev;
	ASSERT_EQ(0, cfi_files__make(files, 3, DEADLINE_MS));
	EXPECT_EQ(0, files[0].err);
	EXPECT_EQ(-ESRCH, files[1].err);
	EXPECT_EQ(-ESRCH, files[2].err);
	close(fd);
	cfi_table__free(&files[0].table);
	cfi_table__free(&files[1].table);
}

TEST(without_time_nothing_is_asked)
{
	struct cfi_file file = { .pid = getpid(), .start = 4096, .end = 8192 };

	ASSERT_EQ(0, cfi_files__make(&file, 1, 0));
	EXPECT_EQ(-ECANCELED, file.err);
	EXPECT_EQ(NULL, file.table.words);
}

TEST_HARNESS_MAIN
