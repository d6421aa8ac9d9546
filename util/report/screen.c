/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/screen.h"

#include <errno.h>

#include "base/log.h"
#include "report/advice.h"
#include "report/left_out.h"
#include "report/lock_table.h"
#include "report/row_table.h"
#include "report/shares.h"
#include "report/shown_time.h"

#define MAX_TEXT 400
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

struct screen {
	FILE *out;
	const struct report_options *options;
	const struct recording *recording;
	struct shares shares;
};

static const char *colour(const struct screen *screen, const char *sequence)
{
	return screen->options->form.colours ? sequence : "";
}

static double percent(const struct screen *screen, uint64_t ns)
{
	return screen->shares.total ? 100.0 * (double)ns / (double)screen->shares.total : 0;
}

static void print_share(const struct screen *screen, const char *name, const struct share *share)
{
	bool exact = screen->options->form.exact;
	char time[SHOWN_TIME_MAX];

	if (!share->tids.used)
		return;
	fprintf(screen->out, "  %-9s %*s  %5.1f %%  %zu thread%s", name,
		exact ? SHOWN_TIME_EXACT_WIDTH : SHOWN_TIME_WIDTH,
		shown_time__format(exact, share->ns, time), percent(screen, share->ns),
		share->tids.used, share->tids.used == 1 ? "" : "s");
	if (share->whole_ns)
		fprintf(screen->out, ", %s of it from begin to end",
			shown_time__format(exact, share->whole_ns, time));
	fputc('\n', screen->out);
}

static void print_shares(const struct screen *screen)
{
	const struct input_info *info = input__info(screen->recording->input);
	const struct shares *shares = &screen->shares;
	char time[SHOWN_TIME_MAX], path[MAX_TEXT], host[MAX_TEXT];

	log__escape(path, sizeof(path), screen->recording->path);
	log__escape(host, sizeof(host), info->hostname);
	shown_time__format(screen->options->form.exact, shares->total, time);
	fprintf(screen->out, "%s%s%s: %s of %zu thread%s%s%s\n\n", colour(screen, BOLD), path,
		colour(screen, PLAIN), time, shares->threads, shares->threads == 1 ? "" : "s",
		*host ? " on " : "", host);
	print_share(screen, "running", &shares->running);
	print_share(screen, "runnable", &shares->runnable);
	print_share(screen, "blocked", &shares->blocked);
	if (screen->options->idle)
		print_share(screen, "idle", &shares->idle);
}

static int print_waits(const struct screen *screen)
{
	const struct report_options *options = screen->options;
	const struct row_table table = {
		.events = 1 << PROFILE_ONCPU | 1 << PROFILE_QUEUED | 1 << PROFILE_OFFCPU |
			  (unsigned int)options->idle << PROFILE_IDLE,
		.keys = options->keys,
		.nr_keys = options->nr_keys,
		.total = screen->shares.total,
		.all = options->all_rows,
		.min_ppm = options->min_ppm,
		.form = options->form,
	};

	return row_table__print(&table, screen->recording->profile, screen->out);
}

/* The threads that ended waits, with the time that others had been blocked until then. */
static int print_wakers(const struct screen *screen)
{
	const struct profile *profile = screen->recording->profile;
	static const enum row_key keys[] = { ROW_GROUP, ROW_SYM };
	const struct row_table table = {
		.events = 1 << PROFILE_WAKEUP,
		.keys = keys,
		.nr_keys = 2,
		.total = profile__sum(profile, PROFILE_WAKEUP).ns,
		.all = screen->options->all_rows,
		.min_ppm = screen->options->min_ppm,
		.form = screen->options->form,
	};

	if (profile__sum(profile, PROFILE_WAKEUP).samples)
		return row_table__print(&table, profile, screen->out);
	fputs("\nno wake-ups: denet-record --wakers records them\n", screen->out);
	return 0;
}

static int print_tables(const struct screen *screen)
{
	const struct locks *locks = &screen->recording->locks;
	int err = 0;

	if (screen->options->wakers)
		err = print_wakers(screen);
	if (screen->options->locks && locks__nr(locks))
		err = lock_table__print(locks, &screen->options->form, screen->out);
	else if (screen->options->locks)
		fputs("\nno waits for locks: denet-record --reason records them\n", screen->out);
	if (!screen->options->wakers && !screen->options->locks)
		err = print_waits(screen);
	return err;
}

int screen__print(const struct recording *recording, const struct report_options *options,
		  FILE *out)
{
	struct screen screen = { .out = out, .options = options, .recording = recording };
	int err = shares__make(&screen.shares, recording->profile, options->idle);

	if (!err) {
		print_shares(&screen);
		err = print_tables(&screen);
	}
	if (!err) {
		fprintf(out, "\n%s", colour(&screen, DIM));
		left_out__print(recording, &screen.shares, options, out);
		fputs(colour(&screen, PLAIN), out);
		advice__print(recording, &screen.shares, options, out);
	}
	shares__free(&screen.shares);
	return err ? err : ferror(out) ? -EIO : 0;
}
