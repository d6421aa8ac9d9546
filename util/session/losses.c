/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/losses.h"

#include <inttypes.h>

#include "base/units.h"
#include "capture/capture.h"
#include "session/findings.h"

static void find_lost_blocks(struct findings *findings, const struct capture_stats *stats)
{
	char time[32];

	if (stats->lost_ring.count)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " blocks (%s) were lost, a ring was full: try a "
			       "larger --mmap-pages",
			       stats->lost_ring.count,
			       units__format_time(stats->lost_ring.ns, time, sizeof(time)));
	if (stats->lost_internal.count)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " blocks (%s) were lost, the BPF programs had no room",
			       stats->lost_internal.count,
			       units__format_time(stats->lost_internal.ns, time, sizeof(time)));
	if (stats->unseen_switches)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " switches were not seen: the length of their blocks is "
			       "unknown",
			       stats->unseen_switches);
	if (stats->unseen_births)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " tasks were born unseen: what they waited is not "
			       "recorded if they are targets",
			       stats->unseen_births);
}

static void find_lost_wakeups(struct findings *findings, const struct capture_wakeups *wakeups)
{
	if (wakeups->lost.count)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " wake-ups were lost, a ring was full: try a larger "
			       "--mmap-pages",
			       wakeups->lost.count);
	if (wakeups->missed)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " wake-ups were not seen: they have no waker, and their "
			       "blocks are not split",
			       wakeups->missed);
}

void losses__find(struct findings *findings, const struct capture_stats *stats)
{
	char time[32];

	find_lost_blocks(findings, stats);
	find_lost_wakeups(findings, &stats->wakeups);
	if (stats->lost_stack.count)
		findings__warn(findings, FINDING_STACKS,
			       "the stack of %" PRIu64 " blocks (%s) is lost, or its user part: "
			       "they are shown without it",
			       stats->lost_stack.count,
			       units__format_time(stats->lost_stack.ns, time, sizeof(time)));
	if (stats->lost_sideband)
		findings__warn(findings, FINDING_NAMES,
			       "%" PRIu64 " records of maps and names were lost: some frames may "
			       "have no names; try a larger --mmap-pages",
			       stats->lost_sideband);
	if (stats->lost_hits)
		findings__warn(findings, FINDING_LOST,
			       "%" PRIu64 " hits of tracepoints were lost, a ring was full: name "
			       "fewer tracepoints (-e), or try a larger --mmap-pages",
			       stats->lost_hits);
	if (stats->flooded)
		findings__warn(findings, FINDING_NAMES,
			       "%" PRIu64 " changes of mappings or names came too fast: some "
			       "frames may have no names",
			       stats->flooded);
}
