/* SPDX-License-Identifier: GPL-2.0-only */
#include <poll.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "host/resume_watch.h"

/* A positive test needs a suspend: tests/boot/suspend.bats. */
TEST(nothing_is_told_while_nothing_happens)
{
	struct pollfd poll_fd = { .events = POLLIN };

	poll_fd.fd = resume_watch__open();
	ASSERT_GE(poll_fd.fd, 0);
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	EXPECT_FALSE(resume_watch__read(poll_fd.fd));
	close(poll_fd.fd);
}

TEST_HARNESS_MAIN
