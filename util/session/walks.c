/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/walks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "callchain/chain_stats.h"
#include "capture/capture.h"
#include "session/findings.h"

/* Less time of a program in broken chains is not warned of. */
#define LEAST_WARNED_NS NSEC_PER_SEC
/* A line names so many programs at most, with so much of such time at least. */
#define LINE_PROGRAMS 3
#define LINE_LEAST_NS (100 * NSEC_PER_MSEC)

static const char *const reasons[CHAIN_ENDS] = {
	[CHAIN_NO_TABLE] = "no unwind table",
	[CHAIN_NO_CFI] = "no call frame information",
	[CHAIN_UNREADABLE] = "unreadable stack",
	[CHAIN_NO_RULE] = "a rule that is not supported",
	[CHAIN_BUSY] = "mappings being changed",
	[CHAIN_FORBIDDEN] = "its files may not be opened",
	[CHAIN_BEYOND_COPY] = "stack longer than its copy",
	[CHAIN_GARBAGE] = "a caller in no code",
	[CHAIN_NO_POINTERS] = "no frame pointers",
};

/* What helps against the reason; NULL: nothing that we know of. */
static const char *remedy(const struct walks *walks, enum chain_end end)
{
	switch (end) {
	case CHAIN_NO_CFI:
		return "build it with -fno-omit-frame-pointer";
	case CHAIN_FORBIDDEN:
		return *walks->missing_rights ? walks->missing_rights : NULL;
	case CHAIN_NO_RULE:
		return "denet-record --call-graph dwarf unwinds it";
	case CHAIN_NO_POINTERS:
		if (walks->by_tables)
			return NULL;
		return walks->fp_asked_for ? "--call-graph auto unwinds it" :
					     "denet-record --call-graph dwarf unwinds it";
	default:
		return NULL;
	}
}

/* Appends to a line as much as fits. */
static void __attribute__((format(printf, 3, 4)))
append(char *buf, size_t size, const char *format, ...)
{
	size_t len = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + len, size - len, format, args);
	va_end(args);
}

/* "pid 42", "3 processes". */
static char *format_processes(const struct chain_program *program, char *buf, size_t size)
{
	if (program->nr_pids == 1)
		snprintf(buf, size, "pid %d", (int)program->pids[0]);
	else if (program->nr_pids <= CHAIN_STATS_PIDS)
		snprintf(buf, size, "%u processes", program->nr_pids);
	else
		snprintf(buf, size, "more than %d processes", CHAIN_STATS_PIDS);
	return buf;
}

/* The program whose chains are worth a warning; NULL: none. */
static const struct chain_program *find_worst(const struct walks *walks)
{
	const struct chain_program *worst = chain_stats__worst(walks->chains);

	return worst && worst->broken_ns >= LEAST_WARNED_NS ? worst : NULL;
}

static void warn_of(const struct walks *walks, const struct chain_program *program,
		    struct findings *findings)
{
	enum chain_end end = chain_program__main_end(program);
	const char *help = remedy(walks, end);
	char processes[32], time[32], why[192] = "in code without frame pointers";

	if (end <= CHAIN_FORBIDDEN)
		snprintf(why, sizeof(why), "where unwind tables lead no further: %s", reasons[end]);
	else if (end != CHAIN_NO_POINTERS)
		snprintf(why, sizeof(why), "for this reason: %s", reasons[end]);
	if (help)
		append(why, sizeof(why), "; %s", help);
	findings__warn(findings, FINDING_STACKS,
		       "user stacks of %s (%s) end early in %.0f %% of its %s, %s", program->comm,
		       format_processes(program, processes, sizeof(processes)),
		       units__percent(program->broken_ns, program->ns),
		       units__format_time(program->ns, time, sizeof(time)), why);
}

void walks__find(const struct walks *walks, struct findings *findings)
{
	const struct chain_program *worst;
	char line[1024];

	if (!walks->chains)
		return;
	worst = find_worst(walks);
	if (worst)
		warn_of(walks, worst, findings);
	findings__add(findings, FINDING_STACKS, walks__format(walks, line, sizeof(line)));
}

/* A hundredth of its own time, and a thousandth of all. */
static bool is_noticeable(const struct chain_stats *stats, const struct chain_program *program)
{
	return program->broken_ns >= LINE_LEAST_NS && program->broken_ns >= program->ns / 100 &&
	       program->broken_ns >= stats->ns / 1000;
}

/* Appends a program. told: the reasons whose remedy stands in the line already. */
static void append_program(const struct walks *walks, const struct chain_program *program,
			   bool told[CHAIN_ENDS], char *buf, size_t size)
{
	enum chain_end end = chain_program__main_end(program);
	const char *help = told[end] ? NULL : remedy(walks, end);
	char comm[4 * sizeof(program->comm) + 1], processes[32], time[32];

	told[end] = true;
	log__escape(comm, sizeof(comm), program->comm);
	append(buf, size, "%s (%s) in %.0f %% of its %s, %s", comm,
	       format_processes(program, processes, sizeof(processes)),
	       units__percent(program->broken_ns, program->ns),
	       units__format_time(program->ns, time, sizeof(time)), reasons[end]);
	if (help)
		append(buf, size, " (%s)", help);
}

char *walks__format(const struct walks *walks, char *buf, size_t size)
{
	const struct chain_program *list[CHAIN_STATS_NAMES], *worst;
	bool told[CHAIN_ENDS] = { false };
	size_t nr, named = 0, more = 0;

	*buf = '\0';
	if (!walks->chains || !walks->by_tables)
		return buf;
	worst = find_worst(walks);
	nr = chain_stats__list(walks->chains, list);
	for (size_t i = 0; i < nr; i++) {
		if (list[i] == worst || !is_noticeable(walks->chains, list[i]))
			continue;
		if (named == LINE_PROGRAMS) {
			more++;
			continue;
		}
		append(buf, size, "%s", named++ ? "; " : "[ user stacks not whole: ");
		append_program(walks, list[i], told, buf, size);
	}
	if (more)
		append(buf, size, "; %zu more: -v", more);
	if (named)
		append(buf, size, " ]");
	return buf;
}

/* Prints nothing if no user stack was walked by tables. */
static void print_user_walks(const struct capture_stats *stats)
{
	const struct capture_tally *walks = stats->user_walks;
	uint64_t all = 0, ns = 0;
	char time[32], of[32];

	for (int i = 0; i < USER_WALK_ENDS; i++) {
		all += walks[i].count;
		ns += walks[i].ns;
	}
	if (!all)
		return;
	pr_verbose("user stacks by unwind tables: %" PRIu64 " whole, %" PRIu64 " deeper than the "
		   "limit, %" PRIu64 " met a missing table (%s of %s: %.3f %%), %" PRIu64
		   " without call frame information, %" PRIu64 " with unreadable memory, %" PRIu64
		   " with an unsupported rule, %" PRIu64 " while mappings changed, %" PRIu64
		   " in files that may not be opened",
		   walks[USER_WALK_WHOLE].count, walks[USER_WALK_FRAMES].count,
		   walks[USER_WALK_NO_TABLE].count,
		   units__format_time(walks[USER_WALK_NO_TABLE].ns, time, sizeof(time)),
		   units__format_time(ns, of, sizeof(of)),
		   units__percent(walks[USER_WALK_NO_TABLE].ns, ns), walks[USER_WALK_NO_CFI].count,
		   walks[USER_WALK_UNREADABLE].count, walks[USER_WALK_NO_RULE].count,
		   walks[USER_WALK_BUSY].count, walks[USER_WALK_FORBIDDEN].count);
}

/* A program with its time by reasons. */
static void print_program(const struct chain_program *program, const char *name)
{
	char comm[4 * sizeof(program->comm) + 1], processes[32], broken[32], time[32];
	char why[512] = "";

	for (int end = CHAIN_WHOLE + 1; end < CHAIN_ENDS; end++) {
		if (program->by_end[end])
			append(why, sizeof(why), "%s%s %s", *why ? ", " : "", reasons[end],
			       units__format_time(program->by_end[end], time, sizeof(time)));
	}
	log__escape(comm, sizeof(comm), name);
	pr_verbose("  %s (%s): %s of %s: %s", comm,
		   format_processes(program, processes, sizeof(processes)),
		   units__format_time(program->broken_ns, broken, sizeof(broken)),
		   units__format_time(program->ns, time, sizeof(time)), why);
}

static void print_programs(const struct chain_stats *stats)
{
	const struct chain_program *list[CHAIN_STATS_NAMES];
	size_t nr = chain_stats__list(stats, list);

	if (nr || stats->rest.broken_ns)
		pr_verbose("user stacks that are not whole, by program:");
	for (size_t i = 0; i < nr; i++)
		print_program(list[i], list[i]->comm);
	if (stats->rest.broken_ns)
		print_program(&stats->rest, "further names");
}

void walks__print(const struct walks *walks)
{
	const struct capture_stats *stats = walks->stats;

	if (stats->orc_walks + stats->orc_fallbacks)
		pr_verbose("kernel stacks: %" PRIu64 " walked by ORC tables, %" PRIu64
			   " left to the kernel's own walk",
			   stats->orc_walks, stats->orc_fallbacks);
	print_user_walks(stats);
	if (walks->chains)
		print_programs(walks->chains);
}
