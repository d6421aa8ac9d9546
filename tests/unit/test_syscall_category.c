/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/syscall_category.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/syscalls.h"
#include "common/harness.h"

static const char *category(const char *name)
{
	return syscall_category__name(syscall_category__of(name, STAT_FILE_NONE));
}

static const char *category_on(const char *name, enum stat_file file)
{
	return syscall_category__name(syscall_category__of(name, file));
}

/* How many names libseccomp has for numbers from there on; prints those that the table lacks. */
static unsigned int check_names(uint32_t arch, int first, unsigned int *missing)
{
	unsigned int nr_names = 0;

	for (int nr = first; nr < first + 2000; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, nr);

		if (!name)
			continue;
		nr_names++;
		if (!syscall_category__has(name)) {
			printf("# no category: %s\n", name);
			++*missing;
		}
		free(name);
	}
	return nr_names;
}

/* A call that is new in libseccomp gets its place in the table by a decision, not by default. */
TEST(every_name_of_libseccomp_has_a_category)
{
	static const uint32_t archs[] = { SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_AARCH64,
					  SCMP_ARCH_ARM };
	unsigned int missing = 0;

	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		EXPECT_LT(250, check_names(archs[i], 0, &missing));
	EXPECT_LT(3, check_names(SCMP_ARCH_ARM, 0xf0000, &missing));
	EXPECT_LT(250, check_names(SCMP_ARCH_X32, 0x40000000, &missing));
	EXPECT_EQ(0, missing);
}

TEST(every_name_of_the_build_has_a_category)
{
	for (int nr = 0; nr < syscalls__count(); nr++) {
		if (*syscalls__name(nr) && !syscall_category__has(syscalls__name(nr)))
			TH_LOG("no category: %s", syscalls__name(nr));
		EXPECT_TRUE(!*syscalls__name(nr) || syscall_category__has(syscalls__name(nr)));
	}
}

TEST(each_of_the_ten)
{
	EXPECT_STREQ("file_io", category("openat"));
	EXPECT_STREQ("file_io", category("_llseek"));
	EXPECT_STREQ("file_io", category("writev"));
	EXPECT_STREQ("file_io", category("epoll_wait"));
	EXPECT_STREQ("memory", category("brk"));
	EXPECT_STREQ("memory", category("userfaultfd"));
	EXPECT_STREQ("process", category("clone3"));
	EXPECT_STREQ("process", category("wait4"));
	EXPECT_STREQ("network", category("accept"));
	EXPECT_STREQ("network", category("socketpair"));
	EXPECT_STREQ("time", category("nanosleep"));
	EXPECT_STREQ("ipc", category("futex"));
	EXPECT_STREQ("ipc", category("shmget"));
	EXPECT_STREQ("security", category("setuid"));
	EXPECT_STREQ("signal", category("rt_sigprocmask"));
	EXPECT_STREQ("system", category("uname"));
	EXPECT_STREQ("other", category("vserver"));
}

TEST(names_without_a_category_are_other)
{
	static const char *const names[] = { "syscall_9999", "", "rea", "readx", "zzz", "READ" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EXPECT_STREQ("other", category(names[i]));
		EXPECT_FALSE(syscall_category__has(names[i]));
	}
	EXPECT_TRUE(syscall_category__has("tuxcall"));
}

TEST(bytes_go_by_the_type_of_the_file)
{
	static const char *const moving[] = { "read", "write", "preadv2", "sendfile64", "splice" };

	for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
		EXPECT_STREQ("network", category_on(moving[i], STAT_FILE_SOCKET));
		EXPECT_STREQ("ipc", category_on(moving[i], STAT_FILE_PIPE));
		EXPECT_STREQ("file_io", category_on(moving[i], STAT_FILE_REGULAR));
		EXPECT_STREQ("file_io", category_on(moving[i], STAT_FILE_OTHER));
		EXPECT_STREQ("file_io", category_on(moving[i], STAT_FILE_NONE));
	}
	EXPECT_STREQ("file_io", category_on("close", STAT_FILE_SOCKET));
	EXPECT_STREQ("network", category_on("recvfrom", STAT_FILE_SOCKET));
	EXPECT_STREQ("other", category_on("syscall_9999", STAT_FILE_SOCKET));
}

TEST_HARNESS_MAIN
