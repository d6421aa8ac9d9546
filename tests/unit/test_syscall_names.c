/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/syscall_names.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/syscalls.h"
#include "common/harness.h"

static const char *name_of(enum stat_abi abi, uint32_t nr)
{
	static char name[SYSCALL_NAME_LEN];

	return syscall_names__put(abi, nr, name);
}

TEST(every_call_of_the_build_has_its_own_name)
{
	int nr_names = 0;

	for (int nr = 0; nr < syscalls__count(); nr++) {
		if (!*syscalls__name(nr))
			continue;
		nr_names++;
		EXPECT_STREQ(syscalls__name(nr), name_of(STAT_ABI_NATIVE, (uint32_t)nr));
	}
	EXPECT_LT(250, nr_names);
	EXPECT_STREQ("getppid", name_of(STAT_ABI_NATIVE, SYS_getppid));
}

TEST(unknown_numbers_are_told_as_they_are)
{
	EXPECT_STREQ("syscall_9999", name_of(STAT_ABI_NATIVE, 9999));
	EXPECT_STREQ("syscall_9999", name_of(STAT_ABI_COMPAT, 9999));
	/* Of libseccomp's own numbers none gets through. */
	EXPECT_STREQ("syscall_4294957295", name_of(STAT_ABI_NATIVE, (uint32_t)-10001));
	EXPECT_STREQ("syscall_4294967295", name_of(STAT_ABI_NATIVE, UINT32_MAX));
	EXPECT_STREQ("syscall_2147483647", name_of(STAT_ABI_COMPAT, INT32_MAX));
}

/* Numbers as of the kernel's tables syscall_32.tbl and ARM's syscall.tbl. */
TEST(thirty_two_bit_programs_have_their_own_table)
{
	EXPECT_STREQ("exit", name_of(STAT_ABI_COMPAT, 1));
	EXPECT_STREQ("read", name_of(STAT_ABI_COMPAT, 3));
	EXPECT_STREQ("write", name_of(STAT_ABI_COMPAT, 4));
	EXPECT_STREQ("futex_time64", name_of(STAT_ABI_COMPAT, 422));
#ifdef __x86_64__
	EXPECT_STREQ("read", name_of(STAT_ABI_NATIVE, 0));
	EXPECT_STREQ("socketcall", name_of(STAT_ABI_COMPAT, 102));
	EXPECT_STREQ("restart_syscall", name_of(STAT_ABI_COMPAT, 0));
#else
	EXPECT_STREQ("io_setup", name_of(STAT_ABI_NATIVE, 0));
	EXPECT_STREQ("sigreturn", name_of(STAT_ABI_COMPAT, 119));
	EXPECT_STREQ("cacheflush", name_of(STAT_ABI_COMPAT, 0xf0002));
#endif
}

/* A call that is newer than libseccomp has the number of the native table in the other one, too. */
TEST(new_calls_have_one_number_everywhere)
{
	int nr = syscalls__count() - 1;

	ASSERT_LE(424, nr);
	EXPECT_STREQ(syscalls__name(nr), name_of(STAT_ABI_COMPAT, (uint32_t)nr));
}

TEST(x32_with_and_without_its_bit)
{
#ifdef __x86_64__
	EXPECT_STREQ("read", name_of(STAT_ABI_X32, 0));
	EXPECT_STREQ("read", name_of(STAT_ABI_X32, 0x40000000));
	EXPECT_STREQ("ioctl", name_of(STAT_ABI_X32, 514));
	EXPECT_STREQ("ioctl", name_of(STAT_ABI_X32, 0x40000000 + 514));
#endif
	EXPECT_STREQ("syscall_9999", name_of(STAT_ABI_X32, 0x40000000 + 9999));
}

TEST_HARNESS_MAIN
