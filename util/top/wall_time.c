/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/wall_time.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"

/* The two clocks are not read at one moment, and one of them may be slewed. */
#define STEADY_NS NSEC_PER_MSEC
/* Half of the time that clocks are put back in autumn. */
#define TWICE_S 1800

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

/* The other time that is as local; the same one: there is none. */
static time_t twin_of(const struct tm *local, time_t seconds)
{
	struct tm wanted = *local, used, found;
	time_t twin;

	localtime_r(&seconds, &used);
	wanted.tm_isdst = !used.tm_isdst;
	twin = mktime(&wanted);
	if (twin < 0)
		return seconds;
	localtime_r(&twin, &found);
	return found.tm_mday == local->tm_mday && found.tm_hour == local->tm_hour &&
	       found.tm_min == local->tm_min ? twin : seconds;
}

static time_t choose(const struct tm *local, time_t seconds, uint64_t last)
{
	const time_t near = (time_t)(last / NSEC_PER_SEC);
	time_t twin;

	/* It takes much longer than the rest. */
	if (seconds >= near - TWICE_S && seconds <= near + TWICE_S)
		return seconds;
	twin = twin_of(local, seconds);
	if (twin < seconds)
		return twin >= near - TWICE_S ? twin : seconds;
	return seconds >= near - TWICE_S ? seconds : twin;
}

int wall_time__parse(const char *text, uint64_t last, uint64_t *ns)
{
	struct tm local = { 0 }, wanted;
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &local);
	uint64_t usec = 0;
	time_t seconds;

	if (!rest || (*rest == '.' && units__parse_number(rest + 1, 999999, &usec)))
		return -EINVAL;
	local.tm_isdst = -1;
	wanted = local;
	seconds = mktime(&wanted);
	if (seconds < 0)
		return -EINVAL;
	seconds = choose(&local, seconds, last);
	if ((uint64_t)seconds >= WALL_TIME_MOST_NS / NSEC_PER_SEC)
		return -EINVAL;
	*ns = (uint64_t)seconds * NSEC_PER_SEC + usec * NSEC_PER_USEC;
	return 0;
}
