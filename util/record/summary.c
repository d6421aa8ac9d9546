/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err_out.h"
#include "base/log.h"
#include "base/units.h"
#include "host/capabilities.h"
#include "session/accounts.h"
#include "session/findings.h"
#include "session/losses.h"
#include "session/walks.h"

/*
 * Number of sums: samples that are neither a single block, which was sent at once, nor a block that
 * had not ended; the capture counts these two.
 */
static uint64_t sums(const struct summary *summary)
{
	uint64_t others = summary->stats.direct.count + summary->still_blocked;

	return summary->samples > others ? summary->samples - others : 0;
}

/* The standard error of ns by sampling, as an estimated share of it. */
static double standard_error(const struct summary *summary)
{
	return summary->ns ? sqrt(summary->stats.variance) / (double)summary->ns : 0;
}

/*
 * If samples stand for other blocks: the period, how long it was in force, and the error of the
 * total.
 */
static char *format_sampling(const struct summary *summary, char *buf, size_t size)
{
	char period[32], threshold[32], cost[64] = "", level[96] = "";
	bool drawn = summary->period_ns && summary->threshold_ns;

	buf[0] = '\0';
	/* With a threshold of 0 nothing is drawn, but it may have been higher for a while. */
	if (!drawn && !summary->stats.drawn.count && summary->sampled_for_cost <= 0)
		return buf;
	if (summary->sampled_for_cost > 0)
		snprintf(cost, sizeof(cost), "--max-overhead sampled %.1f %% of the time%s",
			 100 * summary->sampled_for_cost, drawn ? ", " : "");
	if (drawn)
		snprintf(level, sizeof(level), "%ssampled one for each %s below %s",
			 *cost ? "in the end " : "",
			 units__format_time(summary->period_ns, period, sizeof(period)),
			 units__format_time(summary->threshold_ns, threshold, sizeof(threshold)));
	snprintf(buf, size, "; %s%s%s, standard error %.2f %%", cost, level,
		 *cost || *level ? "" : "sampled for a while", 100 * standard_error(summary));
	return buf;
}

/* Time is worth showing from this value on, or if the total is small. */
static bool is_worth_telling(const struct summary *summary, uint64_t ns)
{
	return ns >= 10 * NSEC_PER_MSEC || (ns && ns >= summary->ns / 100);
}

/*
 * Time that threads waited for a CPU: within the blocks of the file, if these are not split, and
 * outside of them. Preempted threads are in the file if blocks of state R are recorded.
 */
static void format_runnable(const struct summary *summary, char *within, size_t within_size,
			    char *outside, size_t outside_size)
{
	const struct capture_stats *stats = &summary->stats;
	uint64_t within_ns = stats->runnable_ns -
			     (summary->records_preempted ? 0 : stats->preempted_ns);
	size_t len = 0;

	*within = *outside = '\0';
	if (!summary->split && is_worth_telling(summary, within_ns))
		snprintf(within, within_size, ", %.3f s of it runnable",
			 (double)within_ns / (double)NSEC_PER_SEC);
	if (!summary->records_preempted && is_worth_telling(summary, stats->preempted_ns))
		len = (size_t)snprintf(outside, outside_size,
				       ", +%.3f s runnable, not recorded: --split-runqueue",
				       (double)stats->preempted_ns / (double)NSEC_PER_SEC);
	if (is_worth_telling(summary, stats->throttled_ns))
		snprintf(outside + len, outside_size - len, ", %s%.3f s throttled by a CPU quota",
			 summary->records_preempted ? "" : "+",
			 (double)stats->throttled_ns / (double)NSEC_PER_SEC);
}

char *summary__format(const struct summary *summary, char *buf, size_t size)
{
	char samples[32], direct[32], accumulated[32], blocked[48] = "", lost[32], bytes[32];
	char count[32], idle[48] = "", split[96] = "", wakers[64] = "", sampled[256];
	char path[4096], skipped[48] = "", unwound[64] = "";
	char within[48], outside[128];
	uint64_t by_pointers = summary->callchain.fell_back + summary->stats.without_copy;

	log__escape(path, sizeof(path), summary->path);
	format_runnable(summary, within, sizeof(within), outside, sizeof(outside));
	if (summary->split)
		snprintf(split, sizeof(split), " (%.3f s blocked, %.3f s waiting for a CPU)",
			 (double)(summary->ns - summary->runqueue_ns) / (double)NSEC_PER_SEC,
			 (double)summary->runqueue_ns / (double)NSEC_PER_SEC);
	if (summary->wakers)
		snprintf(wakers, sizeof(wakers), ", wakers of %.3f s in %s samples",
			 (double)summary->wakeups.ns / (double)NSEC_PER_SEC,
			 units__format_count(summary->wakeups.count, count, sizeof(count)));
	if (summary->idle.count)
		snprintf(idle, sizeof(idle), ", %s idle apart",
			 units__format_count(summary->idle.count, count, sizeof(count)));
	if (summary->stats.filtered_idle.count)
		snprintf(skipped, sizeof(skipped), ", %s idle left out",
			 units__format_count(summary->stats.filtered_idle.count, count,
					     sizeof(count)));
	if (summary->still_blocked)
		snprintf(blocked, sizeof(blocked), ", %s still blocked",
			 units__format_count(summary->still_blocked, count, sizeof(count)));
	if (summary->copies && by_pointers)
		snprintf(unwound, sizeof(unwound), ", %s not unwound",
			 units__format_count(by_pointers, count, sizeof(count)));
	snprintf(buf, size,
		 "[ %s: %.3f s off-CPU%s in %s samples (%s direct, %s accumulated%s)"
		 "%s%s%s%s%s%s, %s lost%s; wrote %s%s%s%s ]",
		 log__program(), (double)summary->ns / (double)NSEC_PER_SEC, split,
		 units__format_count(summary->samples, samples, sizeof(samples)),
		 units__format_count(summary->stats.direct.count, direct, sizeof(direct)),
		 units__format_count(sums(summary), accumulated, sizeof(accumulated)), blocked,
		 within, outside, wakers, idle, skipped, unwound,
		 units__format_count(accounts__lost(&summary->stats), lost, sizeof(lost)),
		 format_sampling(summary, sampled, sizeof(sampled)),
		 units__format_size(summary->bytes, bytes, sizeof(bytes)),
		 strcmp(summary->path, "-") ? " " : "",
		 strcmp(summary->path, "-") ? path : "",
		 summary->rotated ? ".<timestamp>" : "");
	return buf;
}

/* Prints nothing if time on a CPU is not recorded. */
static void print_lives(const struct capture_lives *lives)
{
	const struct {
		const char *name;
		uint64_t ns;
	} rows[] = {
		{ "= running", lives->running_ns },    { "+ runnable", lives->queued_ns },
		{ "+ blocked", lives->blocked_ns },    { "+ filtered", lives->filtered_ns },
		{ "+ unaccounted", lives->unaccounted_ns },
	};

	if (!lives->count)
		return;
	pr_verbose("%-26s %15" PRIu64 " %20" PRIu64, "lives of threads", lives->count, lives->ns);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		pr_verbose("%-26s %15s %20" PRIu64, rows[i].name, "", rows[i].ns);
	pr_verbose("on-CPU samples: %" PRIu64 "; threads with unaccounted time: %" PRIu64
		   "; records of threads lost: %" PRIu64,
		   lives->looks, lives->uneven, lives->lost);
}

static void print_wakeups(const struct capture_wakeups *wakeups)
{
	const struct {
		const char *name;
		const struct capture_tally *tally;
	} rows[] = {
		{ "seen", &wakeups->seen },	    { "= direct", &wakeups->direct },
		{ "+ accumulated", &wakeups->accumulated }, { "+ filtered", &wakeups->filtered },
		{ "+ not drawn", &wakeups->not_drawn }, { "+ lost", &wakeups->lost },
	};

	pr_verbose("%-26s %15s %20s", "wake-ups", "count", "ns ended");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		pr_verbose("%-26s %15" PRIu64 " %20" PRIu64, rows[i].name, rows[i].tally->count,
			   rows[i].tally->ns);
}

static void print_sampling(const struct summary *summary)
{
	const struct capture_stats *stats = &summary->stats;

	pr_verbose("drawn: %" PRIu64 " blocks, which stand for %" PRIu64 " ns; standard error of "
		   "the total: %.0f ns (%.3f %%); changes of period or threshold: %" PRIu64,
		   stats->drawn.count, stats->drawn.ns, sqrt(stats->variance),
		   100 * standard_error(summary), summary->sampling_changes);
}

static void print_copies(const struct summary *summary)
{
	const struct capture_stats *stats = &summary->stats;

	pr_verbose("user stacks: %" PRIu64 " copied, not copied: %" PRIu64 " for a full ring, "
		   "%" PRIu64 " on a CPU without a ring, %" PRIu64 " of 32-bit tasks, %" PRIu64
		   " not in memory",
		   stats->copies, stats->lost_copies, stats->ringless_copies,
		   stats->compat_copies, stats->unread_copies);
	pr_verbose("unwound: %" PRIu64 " whole, %" PRIu64 " [truncated], %" PRIu64
		   " by frame pointers instead",
		   summary->callchain.unwound, summary->callchain.truncated,
		   summary->callchain.fell_back);
}

/* How many threads are shown with -v. */
#define SHOWN_THREADS 10

static void print_waiting(const struct summary *summary)
{
	const struct capture_stats *stats = &summary->stats;
	char runnable[32], outside[32], throttled[32];

	pr_verbose("waits for a CPU: %s, of which %s outside of sleeps; for a CPU quota: %s%s",
		   units__format_time(stats->runnable_ns, runnable, sizeof(runnable)),
		   units__format_time(stats->preempted_ns, outside, sizeof(outside)),
		   units__format_time(stats->throttled_ns, throttled, sizeof(throttled)),
		   stats->throttling_unknown ? " (not shown by this kernel)" : "");
	for (size_t i = 0; i < summary->nr_waiting && i < SHOWN_THREADS; i++) {
		const struct thread_waits *thread = &summary->waiting[i];
		char comm[4 * sizeof(thread->comm) + 1];

		log__escape(comm, sizeof(comm), thread->comm);
		pr_verbose("  %s (pid %d, tid %d): %s runnable, %s throttled", comm,
			   (int)thread->pid, (int)thread->tid,
			   units__format_time(thread->runnable_ns, runnable, sizeof(runnable)),
			   units__format_time(thread->throttled_ns, throttled, sizeof(throttled)));
	}
}

static struct walks walks_of(const struct summary *summary)
{
	struct walks walks = {
		.stats = &summary->stats,
		.chains = summary->chains,
		.by_tables = summary->by_tables,
		.fp_asked_for = summary->fp_asked_for,
	};

	capabilities__missing_for_code(walks.missing_rights, sizeof(walks.missing_rights));
	return walks;
}

static void print_verbose(const struct summary *summary)
{
	const struct capture_stats *stats = &summary->stats;
	const struct walks walks = walks_of(summary);
	char size[32], slots[32], time[32];

	accounts__print(stats);
	print_lives(&stats->lives);
	if (summary->wakers)
		print_wakeups(&stats->wakeups);
	if (summary->period_ns || stats->drawn.count)
		print_sampling(summary);
	print_waiting(summary);
	accounts__print_unseen(stats);
	if (summary->tracepoints)
		pr_verbose("tracepoints: %" PRIu64 " hits recorded, %" PRIu64 " lost", stats->hits,
			   stats->lost_hits);
	pr_verbose("side-band records lost: %" PRIu64, stats->lost_sideband);
	pr_verbose("sent at once since a map was full: %" PRIu64 " (sums), %" PRIu64 " (stacks)",
		   stats->full_entries, stats->full_stacks);
	walks__print(&walks);
	pr_verbose("chains cut at --max-stack: %" PRIu64 " kernel, %" PRIu64 " user",
		   stats->truncated_kernel, stats->truncated_user);
	pr_verbose("chains by frame pointers that ended in garbage, cut: %" PRIu64,
		   summary->callchain.cut);
	if (summary->copies)
		print_copies(summary);
	pr_verbose("capture: %s; windows: %" PRIu64 "; BPF maps: %s, and about %s for the "
		   "slots of tasks",
		   attach_hook__name(summary->hook), stats->windows,
		   units__format_size(stats->bpf_map_bytes, size, sizeof(size)),
		   units__format_size(stats->task_bytes, slots, sizeof(slots)));
	accounts__print_runs(stats);
	pr_verbose("blocks are recorded from %.6f s (CLOCK_MONOTONIC) on",
		   (double)stats->start_ns / (double)NSEC_PER_SEC);
	pr_verbose("recorded for %s; off-CPU in samples: %" PRIu64 " ns",
		   units__format_time(stats->end_ns - stats->start_ns, time, sizeof(time)),
		   summary->ns);
}

char *summary__format_idle(const struct summary *summary, char *buf, size_t size)
{
	char count[32], time[32];
	size_t len;

	*buf = '\0';
	if (!summary->idle.count)
		return buf;
	len = (size_t)snprintf(buf, size, "[ idle apart (%s): %s in %s samples, ",
			       summary->one_event ? "frame [idle]" : "event offcpu-idle",
			       units__format_time(summary->idle.ns, time, sizeof(time)),
			       units__format_count(summary->idle.count, count, sizeof(count)));
	for (size_t i = 0; i < SAMPLE_EVENTS_LONGEST && summary->longest_idle[i].ns; i++) {
		const struct sample_events_wait *wait = &summary->longest_idle[i];

		if (len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s of %s/%" PRIu32 " %s",
						i ? ", " : "longest ", wait->call,
						*wait->comm ? wait->comm : "?", wait->tid,
						units__format_time(wait->ns, time, sizeof(time)));
	}
	if (len < size)
		snprintf(buf + len, size - len, " ]");
	return buf;
}

#define MUCH_FOR_ANY 50 /* percent */

char *summary__format_for_any(const struct summary *summary, char *buf, size_t size)
{
	double percent = units__percent(summary->for_any_ns, summary->ns);

	*buf = '\0';
	if (percent >= MUCH_FOR_ANY && !summary->reasons)
		snprintf(buf, size,
			 "[ %.0f %% of the time is in epoll_wait, poll or select: --reason tells "
			 "which descriptor became ready, and its peer ]",
			 percent);
	return buf;
}

#define MUCH_NEVER_RAN 50 /* percent */

char *summary__format_never_ran(const struct summary *summary, char *buf, size_t size)
{
	const struct sample_events_tally *never_ran = &summary->never_ran;
	const struct wait_stats_row *rest = &summary->waits.most;
	char count[32], time[32], most[128] = "";
	double percent = 0;

	*buf = '\0';
	/* A single thread does not crowd a report. */
	if (never_ran->count > 1 && never_ran->ns < summary->ns)
		percent = units__percent(never_ran->ns, summary->ns);
	if (rest->ns)
		snprintf(most, sizeof(most), ", first %s in %s, %s", rest->comm, rest->call,
			 units__format_time(rest->ns, time, sizeof(time)));
	if (percent >= MUCH_NEVER_RAN)
		snprintf(buf, size,
			 "[ %.0f %% of the time is of %s threads that were blocked from begin to "
			 "end: a report with -g none lists the waits of others below them%s ]",
			 percent, units__format_count(never_ran->count, count, sizeof(count)),
			 most);
	return buf;
}

#define MUCH_UNINTERRUPTIBLE 10 /* percent of the recording's length, of all threads */

char *summary__format_uninterruptible(const struct summary *summary, char *buf, size_t size)
{
	const struct wait_stats_row *most = &summary->waits.most_uninterruptible;
	const struct capture_stats *stats = &summary->stats;
	uint64_t ns = summary->waits.uninterruptible;
	char time[32], part[32], first[128] = "";

	*buf = '\0';
	if (!ns || ns < (stats->end_ns - stats->start_ns) / 100 * MUCH_UNINTERRUPTIBLE)
		return buf;
	if (most->uninterruptible)
		snprintf(first, sizeof(first), ", first %s%s%s, %s", most->comm,
			 *most->call ? " in " : "", most->call,
			 units__format_time(most->uninterruptible, part, sizeof(part)));
	snprintf(buf, size, "[ uninterruptible (state D, mostly disk or kernel locks): %s%s ]",
		 units__format_time(ns, time, sizeof(time)), first);
	return buf;
}

char *summary__format_lives(const struct summary *summary, char *buf, size_t size)
{
	const struct capture_lives *lives = &summary->stats.lives;
	uint64_t ns = lives->running_ns + lives->queued_ns + lives->blocked_ns;
	char count[32], time[32], missing[64] = "", filtered[64] = "";
	double share = 100.0 / (double)(ns ? ns : 1);

	*buf = '\0';
	if (!lives->count)
		return buf;
	if (lives->uneven || lives->lost)
		snprintf(missing, sizeof(missing), "; %" PRIu64 " threads not accounted for",
			 lives->uneven + lives->lost);
	/* The threads that filters left out are among those counted. */
	if (lives->filtered_ns)
		snprintf(filtered, sizeof(filtered), " (%s more filtered out)",
			 units__format_time(lives->filtered_ns, time, sizeof(time)));
	snprintf(buf, size,
		 "[ %s of %s threads%s: %.1f %% running, %.1f %% runnable, %.1f %% blocked%s ]",
		 units__format_time(ns, time, sizeof(time)),
		 units__format_count(lives->count, count, sizeof(count)), filtered,
		 share * (double)lives->running_ns, share * (double)lives->queued_ns,
		 share * (double)lives->blocked_ns, missing);
	return buf;
}

/* The share of the off-CPU time captured that was left out as idle, in percent. */
static unsigned int percent_skipped(const struct capture_stats *stats)
{
	uint64_t skipped = stats->filtered_idle.ns;
	uint64_t all = skipped + stats->direct.ns + stats->accumulated.ns + stats->in_flight.ns;

	return (unsigned int)units__percent(skipped, all);
}

#define MUCH_SKIPPED 90 /* percent */

static void find_skipped(const struct capture_stats *stats, struct findings *findings)
{
	unsigned int percent = percent_skipped(stats);

	if (percent > MUCH_SKIPPED)
		findings__warn(findings, FINDING_ELSEWHERE,
			       "--skip-idle left out %u %% of the off-CPU time: if the cause is "
			       "not in the rest, record without it",
			       percent);
}

/* Ends the line, for which there is room, and writes it in one piece. */
static void print_line(char *line)
{
	size_t len = strlen(line);

	line[len] = '\n';
	err_out__write(line, len + 1);
}

/*
 * Prints the last lines: how threads spent their time, the recording's contents, and the next
 * command.
 */
static void print_end(const struct summary *summary, size_t left_out)
{
	char line[17000], more[64] = "";
	size_t len;

	if (*summary__format_lives(summary, line, sizeof(line) - 1))
		print_line(line);
	summary__format(summary, line, sizeof(line) - sizeof(more));
	len = strlen(line);
	if (left_out)
		snprintf(more, sizeof(more), "; %zu more warnings with -v ]", left_out);
	if (left_out && len >= 2)
		memcpy(line + len - 2, more, strlen(more) + 1);
	print_line(line);
	if (*next_step__format(&summary->next, line, sizeof(line) - 1))
		print_line(line);
}

/* How many lines print_end() writes. */
static size_t closing_lines(const struct summary *summary)
{
	if (log__level() < LOG_INFO)
		return 0;
	return (summary->next.path ? 2 : 1) + (summary->stats.lives.count != 0);
}

void summary__print(const struct summary *summary, struct findings *findings)
{
	const struct walks walks = walks_of(summary);
	char line[512];
	size_t left_out;

	losses__find(findings, &summary->stats);
	find_skipped(&summary->stats, findings);
	walks__find(&walks, findings);
	findings__add(findings, FINDING_ELSEWHERE,
		      summary__format_uninterruptible(summary, line, sizeof(line)));
	findings__add(findings, FINDING_ELSEWHERE,
		      summary__format_idle(summary, line, sizeof(line)));
	findings__add(findings, FINDING_HINT,
		      summary__format_never_ran(summary, line, sizeof(line)));
	findings__add(findings, FINDING_HINT,
		      summary__format_for_any(summary, line, sizeof(line)));
	if (log__level() >= LOG_VERBOSE)
		print_verbose(summary);
	left_out = findings__print(findings, closing_lines(summary));
	if (log__level() >= LOG_INFO)
		print_end(summary, left_out);
}
