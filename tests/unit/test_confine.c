/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/confine.h"
#include "host/capabilities.h"

#ifdef __SANITIZE_ADDRESS__
#define SKIP_UNCONFINED() SKIP(return, "a build with the address sanitizer confines nothing")
#else
#define SKIP_UNCONFINED()
#endif

#define MB (1u << 20)

/* Runs fn in a confined process and returns its result, 0 to 255. */
static int confined(enum confine_kind kind, int (*fn)(const char *path), const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(confine__process(kind, 64 * MB) ? 255 : fn(path));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

static int read_file(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);
	void *map;

	if (fd < 0 || read(fd, &byte, 1) != 1 || pread(fd, &byte, 1, 0) != 1)
		return 1;
	map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED || *(volatile char *)map != byte)
		return 2;
	return close(fd) || kill(getppid(), 0);
}

TEST(a_file_can_be_read_and_mapped)
{
	EXPECT_EQ(0, confined(CONFINE_READ, read_file, "/proc/self/exe"));
	EXPECT_EQ(0, confined(CONFINE_COPY, read_file, "/proc/self/exe"));
}

static int write_file(const char *path)
{
	static const int flags[] = { O_WRONLY, O_RDWR, O_WRONLY | O_CREAT, O_RDONLY | O_TRUNC };

	for (int i = 0; i < 4; i++) {
		if (open(path, flags[i], 0600) >= 0)
			return 1;
	}
	return 0;
}

static int leave(const char *path)
{
	char *const argv[] = { (char *)(uintptr_t)path, NULL };

	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || !kill(getppid(), SIGWINCH) || fork() >= 0 ||
	    !unlink(path) || !mkdir("/tmp/confined", 0700))
		return 1;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 2;
	execv("/bin/true", argv);
	return 0;
}

TEST(who_reads_can_neither_write_nor_leave)
{
	char name[] = "/tmp/confine.XXXXXX";
	int fd = mkstemp(name);

	SKIP_UNCONFINED();
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, confined(CONFINE_READ, write_file, name));
	EXPECT_EQ(0, confined(CONFINE_READ, leave, name));
	EXPECT_EQ(0, access(name, F_OK));
	unlink(name);
	close(fd);
}

static int copy(const char *path)
{
	int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 10))
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || fork() >= 0)
		return 2;
	return unlinkat(AT_FDCWD, path, 0) ? 3 : 0;
}

TEST(who_copies_can_write_files_but_not_leave)
{
	char name[64];

	SKIP_UNCONFINED();
	snprintf(name, sizeof(name), "/tmp/confine-copy.%d", getpid());
	EXPECT_EQ(0, confined(CONFINE_COPY, copy, name));
}

static int take_memory(const char *path)
{
	/* A compiler may leave out memory that is never used. */
	void *volatile some = malloc(16 * MB), *volatile much = malloc(512 * MB);

	(void)path;
	return !some ? 1 : much ? 2 : 0;
}

TEST(memory_has_a_limit)
{
	SKIP_UNCONFINED();
	EXPECT_EQ(0, confined(CONFINE_READ, take_memory, ""));
}

static int count_capabilities(const char *path)
{
	char text[8192] = "";
	FILE *file = fopen(path, "re");
	unsigned long long effective = 0, left;
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *line;

	text[len] = '\0';
	line = strstr(text, "\nCapEff:");
	if (!line || sscanf(line, "\nCapEff: %llx", &effective) != 1)
		return 1;
	/* CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE */
	left = effective & ~(1ULL << 2 | 1ULL << 19 | 1ULL << 40);
	return left ? 2 : capabilities__status_value(text, "Seccomp") != 2 ? 3 : 0;
}

TEST(of_the_capabilities_only_those_for_reading_are_left)
{
	SKIP_UNCONFINED();
	EXPECT_EQ(0, confined(CONFINE_READ, count_capabilities, "/proc/self/status"));
}

TEST_HARNESS_MAIN
