/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/harness.h"
#include "common/tolerance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "host/proc_stat.h"

TEST(the_start_is_found_behind_any_name)
{
	static const char rest[] = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21";
	static const char *const names[] = { "12 (sh)", "12 (a) b)", "12 ()) 1 2 3 (x)" };
	char line[256];
	uint64_t ticks;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(line, sizeof(line), "%s%s", names[i], rest);
		ticks = 0;
		EXPECT_EQ(0, proc_stat__parse_start(line, &ticks));
		EXPECT_EQ(777, ticks);
	}
	EXPECT_EQ(-EPROTO, proc_stat__parse_start("12 (sh) S 1 2 3", &ticks));
	EXPECT_EQ(-EPROTO, proc_stat__parse_start("", &ticks));
}

TEST(a_child_is_born_between_two_moments_but_for_a_tick)
{
	uint64_t before = clock__now_ns(), after, born = 0;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	ASSERT_LT(0, child);
	after = clock__now_ns();
	EXPECT_EQ(0, proc_stat__born(child, &born));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* A tick, and what lies between the readings of two clocks. */
	EXPECT_LE(before, born + TOLERANCE_TICK_NS + 100 * NSEC_PER_MSEC);
	EXPECT_GE(after, born);
	EXPECT_EQ(-ESRCH, proc_stat__born(child, &born));
}

TEST(the_parent_of_a_process_is_found_whatever_its_name)
{
	pid_t child, parent = 0;
	int ready[2];
	char byte;

	ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "a) S 7 b");
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	ASSERT_LT(0, child);
	EXPECT_EQ(1, read(ready[0], &byte, 1));
	EXPECT_EQ(0, proc_stat__parent(child, &parent));
	EXPECT_EQ(getpid(), parent);
	EXPECT_EQ(0, proc_stat__parent(getpid(), &parent));
	EXPECT_EQ(getppid(), parent);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_EQ(-ESRCH, proc_stat__parent(child, &parent));
	close(ready[0]);
	close(ready[1]);
}

TEST_HARNESS_MAIN
