/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/wall_time.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"

/* The two clocks are not read at one moment, and one of them may be slewed. */
#define STEADY_NS NSEC_PER_MSEC

static uint64_t lead_now(void)
{
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return (uint64_t)real.tv_sec * NSEC_PER_SEC + (uint64_t)real.tv_nsec - clock__now_ns();
}

uint64_t wall_time__steady_lead(uint64_t *lead)
{
	uint64_t now = lead_now();

	if (now - *lead + STEADY_NS > 2 * STEADY_NS)
		*lead = now;
	return *lead;
}

char *wall_time__put(uint64_t ns, char buf[WALL_TIME_LEN])
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct tm local;
	size_t len;

	localtime_r(&seconds, &local);
	len = strftime(buf, WALL_TIME_LEN, "%Y-%m-%dT%H:%M:%S", &local);
	snprintf(buf + len, WALL_TIME_LEN - len, ".%06llu", ns % NSEC_PER_SEC / NSEC_PER_USEC);
	return buf;
}

int wall_time__parse(const char *text, uint64_t *ns)
{
	struct tm local = { .tm_isdst = -1 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &local);
	uint64_t usec = 0;
	time_t seconds;

	if (!rest || (*rest == '.' && units__parse_number(rest + 1, 999999, &usec)))
		return -EINVAL;
	local.tm_isdst = -1;
	seconds = mktime(&local);
	if (seconds < 0)
		return -EINVAL;
	*ns = (uint64_t)seconds * NSEC_PER_SEC + usec * NSEC_PER_USEC;
	return 0;
}
