/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's own facts: capabilities, sysctls, CPUs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/harness.h"

#include "host/cpu_watch.h"
#include "host/capabilities.h"
#include "host/sysctl.h"

TEST(lockdown_is_the_word_in_brackets)
{
	EXPECT_EQ(LOCKDOWN_NONE, lockdown__parse("[none] integrity confidentiality\n"));
	EXPECT_EQ(LOCKDOWN_INTEGRITY, lockdown__parse("none [integrity] confidentiality\n"));
	EXPECT_EQ(LOCKDOWN_CONFIDENTIALITY, lockdown__parse("none integrity [confidentiality]"));
	EXPECT_EQ(LOCKDOWN_UNKNOWN, lockdown__parse("none integrity confidentiality"));
	EXPECT_EQ(LOCKDOWN_UNKNOWN, lockdown__parse("[]"));
	EXPECT_EQ(LOCKDOWN_UNKNOWN, lockdown__parse("[integ"));
	EXPECT_EQ(LOCKDOWN_UNKNOWN, lockdown__parse("[integritys]"));
	EXPECT_EQ(LOCKDOWN_UNKNOWN, lockdown__parse(""));
}

TEST(a_value_of_proc_status_is_found_by_its_whole_key)
{
	const char *status = "Name:\tx\nNoNewPrivs:\t0\nSeccomp_filters:\t3\nSeccomp:\t2\n";

	EXPECT_EQ(2, capabilities__status_value(status, "Seccomp"));
	EXPECT_EQ(3, capabilities__status_value(status, "Seccomp_filters"));
	EXPECT_EQ(0, capabilities__status_value(status, "NoNewPrivs"));
	EXPECT_EQ(-1, capabilities__status_value(status, "Priv"));
	EXPECT_EQ(-1, capabilities__status_value("", "Seccomp"));
}

TEST(every_right_has_a_name_and_says_what_it_buys)
{
	for (int i = 0; i < CAPABILITY_MAX; i++) {
		EXPECT_EQ(0, strncmp("CAP_", capability__name((enum capability)i), 4));
		EXPECT_NE('\0', *capability__buys((enum capability)i));
	}
}

TEST(a_sysctl_is_read_by_its_name)
{
	int64_t value = -1;

	EXPECT_EQ(0, sysctl__read("kernel.pid_max", &value));
	EXPECT_GT(value, 300);
	EXPECT_EQ(-ENOENT, sysctl__read("kernel.no_such_setting", &value));
	EXPECT_EQ(-EINVAL, sysctl__read("kernel.ostype", &value));
}

TEST(reserving_descriptors_raises_the_soft_limit_as_far_as_that_takes)
{
	struct rlimit low = { .rlim_cur = 16 }, now;
	uint64_t limit = 0;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &now));
	low.rlim_max = now.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	EXPECT_EQ(0, descriptors__reserve(100, &limit));
	EXPECT_GE(limit, 100);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &now));
	EXPECT_EQ(limit, now.rlim_cur);
	EXPECT_EQ(-EMFILE, descriptors__reserve(1ULL << 40, &limit));
}

static bool is_cpu(const char *text, unsigned int *cpu, bool *online)
{
	return cpu_watch__parse(text, strlen(text) + 1, cpu, online);
}

TEST(uevents_of_cpus_are_told_from_all_others)
{
	unsigned int cpu = 0;
	bool online = false;

	EXPECT_TRUE(is_cpu("online@/devices/system/cpu/cpu12", &cpu, &online));
	EXPECT_EQ(12, cpu);
	EXPECT_TRUE(online);
	EXPECT_TRUE(is_cpu("offline@/devices/system/cpu/cpu1", &cpu, &online));
	EXPECT_EQ(1, cpu);
	EXPECT_FALSE(online);
	EXPECT_FALSE(is_cpu("online@/devices/system/cpu/cpu", &cpu, &online));
	EXPECT_FALSE(is_cpu("online@/devices/system/cpu/cpu1x", &cpu, &online));
	EXPECT_FALSE(is_cpu("online@/devices/system/cpu/cpu99999999", &cpu, &online));
	EXPECT_FALSE(is_cpu("add@/devices/system/cpu/cpu1", &cpu, &online));
	EXPECT_FALSE(is_cpu("online@/devices/system/memory/memory1", &cpu, &online));
	EXPECT_FALSE(is_cpu("", &cpu, &online));
	/* No NUL in what was received. */
	EXPECT_FALSE(cpu_watch__parse("online@/devices/system/cpu/cpu1", 31, &cpu, &online));
}

TEST_HARNESS_MAIN
