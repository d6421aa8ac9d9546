/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/resume_watch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Far enough never to come, and not so far that the kernel's nanoseconds overflow. */
#define NEVER_SEC 8000000000

/*
 * A timer of the wall clock that asks to be told when that jumps. Resuming is such a jump, even
 * where the kernel cannot tell how long it was away.
 */
int resume_watch__open(void)
{
	struct itimerspec never = { .it_value = { .tv_sec = NEVER_SEC } };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	int err;

	if (fd < 0)
		return -errno;
	if (!timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

bool resume_watch__read(int fd)
{
	uint64_t expirations;

	return read(fd, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED;
}
