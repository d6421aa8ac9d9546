/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/elsewhere.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

/* Clocks that are set, and what passes between two looks at two clocks. */
#define CLOCK_SLACK_NS (5 * NSEC_PER_SEC)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

bool input_info__is_elsewhere(const struct input_info *info)
{
	uint64_t began, then, suspended;
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	if (*info->hostname && strcmp(info->hostname, host))
		return true;
	if (!info->realtime_ns)
		return false;
	began = clock_ns(CLOCK_REALTIME) - clock__now_ns();
	then = info->realtime_ns - info->clock_ns;
	suspended = clock_ns(CLOCK_BOOTTIME) - clock__now_ns();
	return began + CLOCK_SLACK_NS < then || began > then + suspended + CLOCK_SLACK_NS;
}
