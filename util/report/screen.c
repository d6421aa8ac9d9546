/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "base/log.h"
#include "base/units.h"
#include "report/lock_table.h"
#include "report/row_table.h"

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

static int print_waits(const struct screen *screen, const struct profile *profile)
{
	const struct report_options *options = screen->options;
	const struct row_table table = {
		.events = 1 << PROFILE_ONCPU | 1 << PROFILE_QUEUED | 1 << PROFILE_OFFCPU |
			  (unsigned int)options->idle << PROFILE_IDLE,
		.keys = options->keys,
		.nr_keys = options->nr_keys,
		.total = screen->total,
		.min_ppm = options->min_ppm,
		.colours = screen->colours,
	};

	return row_table__print(&table, profile, screen->out);
}

/* The threads that ended waits, with the time that others had been blocked until then. */
static int print_wakers(const struct screen *screen, const struct profile *profile)
{
	static const enum row_key keys[] = { ROW_COMM, ROW_SYM };
	const struct row_table table = {
		.events = 1 << PROFILE_WAKEUP,
		.keys = keys,
		.nr_keys = 2,
		.total = profile__sum(profile, PROFILE_WAKEUP).ns,
		.min_ppm = screen->options->min_ppm,
		.colours = screen->colours,
	};

	if (profile__sum(profile, PROFILE_WAKEUP).samples)
		return row_table__print(&table, profile, screen->out);
	fputs("\nno wake-ups: denet-record --wakers records them\n", screen->out);
	return 0;
}

static int print_tables(const struct screen *screen, const struct profile *profile,
			const struct screen_file *file)
{
	int err = 0;

	if (screen->options->wakers)
		err = print_wakers(screen, profile);
	if (screen->options->locks && locks__nr(file->locks))
		lock_table__print(file->locks, screen->colours, screen->out);
	else if (screen->options->locks)
		fputs("\nno waits for locks: denet-record --reason records them\n", screen->out);
	if (!screen->options->wakers && !screen->options->locks)
		err = print_waits(screen, profile);
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
		err = print_tables(&screen, profile, file);
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
