/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "report/advice.h"
#include "report/left_out.h"
#include "report/lock_table.h"
#include "report/row_table.h"
#include "report/shares.h"
#include "report/shown_time.h"

#define MAX_TEXT 400
/* Rows of a table, however small the terminal is, and on a large one or none. */
#define LEAST_ROWS 4
#define MOST_ROWS 15
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"
/* Those of kinds of time, as in the flame graph. */
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define BLUE "\033[34m"

struct screen {
	FILE *out;
	const struct report_options *options;
	const struct recording *recording;
	struct shares shares;
	char *foot;  /* what is printed below the tables */
	size_t most; /* rows of a table */
};

static const char *colour(const struct screen *screen, const char *sequence)
{
	return screen->options->form.colours ? sequence : "";
}

static void print_share(const struct screen *screen, const char *name, const char *sequence,
			const struct share *share)
{
	bool exact = screen->options->form.exact;
	char time[SHOWN_TIME_MAX];

	if (!share->tids.used)
		return;
	fprintf(screen->out, "  %s%-9s%s %*s  %5.1f %%  %zu thread%s", colour(screen, sequence),
		name, colour(screen, PLAIN), exact ? SHOWN_TIME_EXACT_WIDTH : SHOWN_TIME_WIDTH,
		shown_time__format(exact, share->ns, time),
		units__percent(share->ns, screen->shares.total), share->tids.used,
		share->tids.used == 1 ? "" : "s");
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

	log__escape(path, sizeof(path), strcmp(screen->recording->path, "-") ?
					screen->recording->path : "standard input");
	log__escape(host, sizeof(host), info->hostname);
	shown_time__format(screen->options->form.exact, shares->total, time);
	fprintf(screen->out, "%s%s%s: %s of %zu thread%s%s%s\n\n", colour(screen, BOLD), path,
		colour(screen, PLAIN), time, shares->threads, shares->threads == 1 ? "" : "s",
		*host ? " on " : "", host);
	print_share(screen, "running", GREEN, &shares->running);
	print_share(screen, "runnable", YELLOW, &shares->runnable);
	print_share(screen, "blocked", BLUE, &shares->blocked);
	if (screen->options->idle)
		print_share(screen, "idle", DIM, &shares->idle);
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
		.most = screen->most,
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
		.most = screen->most,
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
		err = lock_table__print(locks, screen->options->all_rows ? SIZE_MAX : screen->most,
					&screen->options->form, screen->out);
	else if (screen->options->locks)
		fputs("\nno waits for locks: denet-record --reason records them\n", screen->out);
	if (!screen->options->wakers && !screen->options->locks)
		err = print_waits(screen);
	return err;
}

/* What was left out, and what to run next. 0 or a negative errno. */
static int make_foot(struct screen *screen)
{
	const struct report_options *options = screen->options;
	size_t size;
	FILE *out = open_memstream(&screen->foot, &size);

	if (!out)
		return -ENOMEM;
	fprintf(out, "\n%s", colour(screen, DIM));
	left_out__print(screen->recording, &screen->shares, options, out);
	fputs(colour(screen, PLAIN), out);
	advice__print(screen->recording, &screen->shares, options, out);
	return fclose(out) ? -ENOMEM : 0;
}

/* Lines that a text takes on a terminal, which breaks those that are too long. */
static size_t count_lines(const char *text, size_t width)
{
	size_t lines = 0, len;

	for (; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		lines += 1 + (width && len ? (len - 1) / width : 0);
	}
	return lines;
}

/*
 * How many rows a table may have so that all fits on the terminal: beside them are the lines of
 * the shares, a heading, a line above blocks as long as the recording, one that adds up the rest,
 * and that of the prompt.
 */
static size_t rows_that_fit(const struct screen *screen)
{
	const struct shares *shares = &screen->shares;
	size_t others = 2 + (shares->running.tids.used != 0) + (shares->runnable.tids.used != 0) +
			(shares->blocked.tids.used != 0) + screen->options->idle + 2 + 3 +
			count_lines(screen->foot, screen->options->form.width);
	size_t height = screen->options->height;

	if (!height)
		return MOST_ROWS;
	if (height < others + LEAST_ROWS)
		return LEAST_ROWS;
	return height - others < MOST_ROWS ? height - others : MOST_ROWS;
}

int screen__print(const struct recording *recording, const struct report_options *options,
		  FILE *out)
{
	struct screen screen = { .out = out, .options = options, .recording = recording };
	int err = shares__make(&screen.shares, recording->profile, options->idle);

	if (!err)
		err = make_foot(&screen);
	if (!err) {
		screen.most = rows_that_fit(&screen);
		print_shares(&screen);
		err = print_tables(&screen);
	}
	if (!err)
		fputs(screen.foot, out);
	free(screen.foot);
	shares__free(&screen.shares);
	return err ? err : ferror(out) ? -EIO : 0;
}
