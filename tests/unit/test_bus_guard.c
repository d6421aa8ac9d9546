/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/bus_guard.h"

#define PAGES 4

/* A file of PAGES pages of ones that is mapped, and then cut to its first page. */
static const unsigned char *map_and_cut(size_t page)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);
	unsigned char *map;

	if (fd < 0 || ftruncate(fd, (off_t)(PAGES * page)))
		return NULL;
	map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t i = 0; i < PAGES * page; i++)
		map[i] = 1;
	munmap(map, PAGES * page);
	map = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED || ftruncate(fd, (off_t)page))
		return NULL;
	close(fd);
	return map;
}

TEST(what_was_cut_off_reads_as_zeros_and_is_counted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const volatile unsigned char *map;

	ASSERT_EQ(0, bus_guard__install());
	map = map_and_cut(page);
	ASSERT_NE(NULL, (void *)(uintptr_t)map);
	EXPECT_EQ(1, map[page - 1]);
	EXPECT_EQ(0U, bus_guard__faults());
	EXPECT_EQ(0, map[page + 5]);
	EXPECT_EQ(0, map[page + 6]);
	EXPECT_EQ(1U, bus_guard__faults());
	EXPECT_EQ((uintptr_t)map + page, bus_guard__address());
	EXPECT_EQ(0, map[PAGES * page - 1]);
	EXPECT_EQ(2U, bus_guard__faults());
	EXPECT_EQ(1, map[0]);
}

TEST(a_signal_that_somebody_sent_still_kills)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		bus_guard__install();
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_HARNESS_MAIN
