/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "report/rows.h"

#define MOST_ROWS 15
#define MAX_TEXT 400
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* The time of threads, and how many they are. */
struct share {
	uint64_t ns;
	struct idmap tids;
};

struct screen {
	FILE *out;
	const struct report_options *options;
	bool colours;
	struct share running, runnable, blocked, idle;
	uint64_t total; /* ns of what is shown */
};

static const char *colour(const struct screen *screen, const char *sequence)
{
	return screen->colours ? sequence : "";
}

static int add(struct share *share, const struct profile_entry *entry)
{
	share->ns += entry->ns;
	return idmap__get(&share->tids, entry->tid) ? 0 : -ENOMEM;
}

static int add_entry(struct screen *screen, const struct profile_entry *entry)
{
	switch (entry->event) {
	case PROFILE_ONCPU:
		return add(&screen->running, entry);
	case PROFILE_QUEUED:
		return add(&screen->runnable, entry);
	case PROFILE_IDLE:
		return add(&screen->idle, entry);
	case PROFILE_OFFCPU:
		return add(entry->state == 'R' ? &screen->runnable : &screen->blocked, entry);
	default:
		return 0;
	}
}

static double percent(const struct screen *screen, uint64_t ns)
{
	return screen->total ? 100.0 * (double)ns / (double)screen->total : 0;
}

static void print_share(const struct screen *screen, const char *name, const struct share *share)
{
	char time[32];

	if (!share->tids.used)
		return;
	fprintf(screen->out, "  %-9s %12s  %5.1f %%  %zu thread%s\n", name,
		units__format_time(share->ns, time, sizeof(time)), percent(screen, share->ns),
		share->tids.used, share->tids.used == 1 ? "" : "s");
}

static void print_shares(const struct screen *screen, const struct screen_file *file)
{
	char time[32], path[MAX_TEXT], host[MAX_TEXT];

	log__escape(path, sizeof(path), file->path);
	log__escape(host, sizeof(host), file->info->hostname);
	fprintf(screen->out, "%s%s%s: %s of threads%s%s\n\n", colour(screen, BOLD), path,
		colour(screen, PLAIN), units__format_time(screen->total, time, sizeof(time)),
		*host ? " on " : "", host);
	print_share(screen, "running", &screen->running);
	print_share(screen, "runnable", &screen->runnable);
	print_share(screen, "blocked", &screen->blocked);
	if (screen->options->idle)
		print_share(screen, "idle", &screen->idle);
}

/* The width of a column: of its longest text, but for the last one's, which has the rest. */
static int width_of(const struct screen *screen, const struct rows *rows, size_t nr, size_t column)
{
	size_t width = strlen(row_key__heading(screen->options->keys[column]));
	char text[MAX_TEXT];

	for (size_t i = 0; i < nr; i++) {
		log__escape(text, sizeof(text), rows__at(rows, i)->texts[column]);
		width = max_u64(width, strlen(text));
	}
	return column + 1 == screen->options->nr_keys ? 0 : (int)min_u64(width, 48);
}

static void print_row(const struct screen *screen, const struct row *row, const int *widths)
{
	char time[32], longest[32] = "-", count[32], text[MAX_TEXT];

	if (row->longest)
		units__format_time(row->longest, longest, sizeof(longest));
	fprintf(screen->out, "  %5.1f %% %12s %12s %9s", percent(screen, row->ns),
		units__format_time(row->ns, time, sizeof(time)), longest,
		units__format_count(row->blocks, count, sizeof(count)));
	for (size_t i = 0; i < screen->options->nr_keys; i++) {
		log__escape(text, sizeof(text), row->texts[i]);
		fprintf(screen->out, "  %-*s", widths[i], text);
	}
	fputc('\n', screen->out);
}

static void print_heading(const struct screen *screen, const int *widths)
{
	fprintf(screen->out, "\n%s  %7s %12s %12s %9s", colour(screen, BOLD), "SHARE", "TIME",
		"LONGEST", "BLOCKS");
	for (size_t i = 0; i < screen->options->nr_keys; i++)
		fprintf(screen->out, "  %-*s", widths[i],
			row_key__heading(screen->options->keys[i]));
	fprintf(screen->out, "%s\n", colour(screen, PLAIN));
}

/* How many rows have the share that is asked for; without one, as many as fit on a screen. */
static size_t count_rows(const struct screen *screen, const struct rows *rows)
{
	size_t nr = 0;

	while (nr < rows->nr && (screen->options->min_ppm || nr < MOST_ROWS) &&
	       percent(screen, rows__at(rows, nr)->ns) * 10000 >= screen->options->min_ppm)
		nr++;
	return nr;
}

static int print_table(const struct screen *screen, const struct profile *profile)
{
	const unsigned int events = 1 << PROFILE_ONCPU | 1 << PROFILE_QUEUED | 1 << PROFILE_OFFCPU |
				    (unsigned int)screen->options->idle << PROFILE_IDLE;
	int widths[ROW_KEYS];
	struct rows rows = { 0 };
	uint64_t rest = 0;
	char time[32];
	size_t nr;
	int err;

	err = rows__make(&rows, profile, events, screen->options->keys, screen->options->nr_keys);
	nr = count_rows(screen, &rows);
	for (size_t i = 0; i < screen->options->nr_keys; i++)
		widths[i] = width_of(screen, &rows, nr, i);
	if (!err && rows.nr)
		print_heading(screen, widths);
	for (size_t i = 0; i < nr && !err; i++)
		print_row(screen, rows__at(&rows, i), widths);
	for (size_t i = nr; i < rows.nr; i++)
		rest += rows__at(&rows, i)->ns;
	if (!err && rows.nr > nr)
		fprintf(screen->out,
			"  %5.1f %% %12s in %zu more rows; --min-percent 0.01 shows "
			"more of them\n",
			percent(screen, rest), units__format_time(rest, time, sizeof(time)),
			rows.nr - nr);
	rows__free(&rows);
	return err;
}

static void print_left_out(const struct screen *screen, const struct profile *profile,
			   const struct screen_file *file)
{
	const struct input_totals *totals = file->totals;
	struct profile_sum left_out = profile__left_out(profile);
	char time[32];

	fputs(colour(screen, DIM), screen->out);
	if (screen->idle.tids.used && !screen->options->idle)
		fprintf(screen->out,
			"hidden: %zu idle thread%s, %s in waits for work; --idle shows "
			"them\n",
			screen->idle.tids.used, screen->idle.tids.used == 1 ? "" : "s",
			units__format_time(screen->idle.ns, time, sizeof(time)));
	if (left_out.samples)
		fprintf(screen->out, "filtered: %" PRIu64 " samples, %s\n", left_out.samples,
			units__format_time(left_out.ns, time, sizeof(time)));
	if (totals->lost)
		fprintf(screen->out, "lost: %" PRIu64 " records of the recording\n", totals->lost);
	if (totals->stacks)
		fprintf(screen->out,
			"%" PRIu64 " samples have copies of stacks, which only perf "
			"unwinds (--raw-stacks)\n",
			totals->stacks);
	if (totals->broken)
		fprintf(screen->out, "broken: %" PRIu64 " records\n", totals->broken);
	if (totals->cut)
		fputs("the file ends within a record: its writer did not finish\n", screen->out);
	fputs(colour(screen, PLAIN), screen->out);
}

static void print_next(const struct screen *screen, const struct profile *profile,
		       const struct screen_file *file)
{
	if (!file->has_reasons && screen->blocked.ns)
		fputs("next: denet-record --reason tells which lock, file or socket it was\n",
		      screen->out);
	if (!profile__sum(profile, PROFILE_WAKEUP).samples && screen->blocked.ns)
		fputs("next: denet-record --wakers tells which threads ended the waits\n",
		      screen->out);
}

int screen__print(const struct profile *profile, const struct screen_file *file,
		  const struct report_options *options, FILE *out)
{
	struct screen screen = { .out = out, .options = options, .colours = options->colours };
	const struct profile_entry *entries;
	size_t nr;
	int err = 0;

	entries = profile__entries(profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_entry(&screen, &entries[i]);
	screen.total = screen.running.ns + screen.runnable.ns + screen.blocked.ns +
		       (options->idle ? screen.idle.ns : 0);
	if (!err) {
		print_shares(&screen, file);
		err = print_table(&screen, profile);
	}
	if (!err) {
		fputc('\n', out);
		print_left_out(&screen, profile, file);
		print_next(&screen, profile, file);
	}
	idmap__free(&screen.running.tids);
	idmap__free(&screen.runnable.tids);
	idmap__free(&screen.blocked.tids);
	idmap__free(&screen.idle.tids);
	return err ? err : ferror(out) ? -EIO : 0;
}
