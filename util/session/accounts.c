/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/accounts.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/units.h"
#include "capture/capture.h"
#include "session/findings.h"
#include "session/losses.h"

uint64_t accounts__lost(const struct capture_stats *stats)
{
	return stats->lost_ring.count + stats->lost_internal.count + stats->unseen_switches;
}

void accounts__print(const struct capture_stats *stats)
{
	const struct {
		const char *name;
		const struct capture_tally *tally;
	} rows[] = {
		{ "seen", &stats->seen },
		{ "= direct", &stats->direct },
		{ "+ accumulated", &stats->accumulated },
		{ "+ in the histogram", &stats->in_histogram },
		{ "+ still blocked", &stats->in_flight },
		{ "+ not drawn", &stats->not_drawn },
		{ "+ filtered by state", &stats->filtered_state },
		{ "+ filtered, too short", &stats->filtered_min },
		{ "+ filtered, too long", &stats->filtered_max },
		{ "+ filtered, idle", &stats->filtered_idle },
		{ "+ filtered, still blocked", &stats->filtered_blocked },
		{ "+ lost, ring full", &stats->lost_ring },
		{ "+ lost, internal", &stats->lost_internal },
		{ "stack lost (accumulated)", &stats->lost_stack },
	};

	pr_verbose("%-26s %15s %20s", "blocks", "count", "ns");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Only --off-cpu-hist has one. */
		if (rows[i].tally == &stats->in_histogram && !rows[i].tally->count)
			continue;
		pr_verbose("%-26s %15" PRIu64 " %20" PRIu64, rows[i].name, rows[i].tally->count,
			   rows[i].tally->ns);
	}
}

void accounts__print_unseen(const struct capture_stats *stats)
{
	pr_verbose("not seen: %" PRIu64 " switches, %" PRIu64 " births, %" PRIu64 " deaths",
		   stats->unseen_switches, stats->unseen_births, stats->unseen_deaths);
}

void accounts__print_runs(const struct capture_stats *stats)
{
	char time[32];

	if (stats->bpf_run_count)
		pr_verbose("BPF programs: %" PRIu64 " runs, %s, %" PRIu64 " ns each",
			   stats->bpf_run_count,
			   units__format_time(stats->bpf_run_ns, time, sizeof(time)),
			   stats->bpf_run_ns / stats->bpf_run_count);
}

void accounts__tell(const struct capture_stats *stats, struct findings *findings)
{
	char size[32];

	losses__find(findings, stats);
	if (log__level() >= LOG_VERBOSE) {
		accounts__print(stats);
		accounts__print_unseen(stats);
		pr_verbose("BPF maps: %s",
			   units__format_size(stats->bpf_map_bytes, size, sizeof(size)));
		accounts__print_runs(stats);
	}
	findings__print(findings, 0);
}
