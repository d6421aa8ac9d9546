/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/decode_times.h"

#include <string.h>

_Static_assert((int)STAT_HIST_BUCKETS == STAT_WIRE_BUCKETS && STAT_HIST_SHIFT == STAT_WIRE_SHIFT,
	       "buckets are the same on both sides");

void decode_times(struct stat_times *to, const struct stat_wire_times *times)
{
	to->count = times->count;
	to->total_ns = times->ns;
	to->max_ns = times->max_ns;
	to->min_ns = times->count ? ~times->not_min_ns : 0;
	memcpy(to->hist, times->hist, sizeof(to->hist));
}
