/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/shown_time.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/minmax.h"
#include "base/units.h"

char *shown_time__format(bool exact, uint64_t ns, char buf[SHOWN_TIME_MAX])
{
	if (!exact)
		return units__format_time(ns, buf, SHOWN_TIME_MAX);
	snprintf(buf, SHOWN_TIME_MAX, "%" PRIu64 " ns", ns);
	return buf;
}

char *shown_time__format_longest(bool exact, uint64_t longest, uint64_t mean,
				 char buf[SHOWN_TIME_MAX])
{
	char time[SHOWN_TIME_MAX - 2];

	if (!longest && !mean) {
		snprintf(buf, SHOWN_TIME_MAX, "-");
		return buf;
	}
	if (exact)
		snprintf(time, sizeof(time), "%" PRIu64 " ns", max_u64(longest, mean));
	else
		units__format_time(max_u64(longest, mean), time, sizeof(time));
	snprintf(buf, SHOWN_TIME_MAX, "%s%s", mean ? ">=" : "", time);
	return buf;
}
