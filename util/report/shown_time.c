/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/shown_time.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

char *shown_time__format(bool exact, uint64_t ns, char buf[SHOWN_TIME_MAX])
{
	if (!exact)
		return units__format_time(ns, buf, SHOWN_TIME_MAX);
	snprintf(buf, SHOWN_TIME_MAX, "%" PRIu64 " ns", ns);
	return buf;
}
