/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "output/flamegraph/flamegraph.h"
#include "top/csv_text.h"
#include "top/screen_thread.h"

/* The columns as they are on the screen, times in ns. */
static int write_line(const struct activity_row *row, size_t nr_columns, FILE *out)
{
	struct buffer line = { 0 };
	int err = csv_text__add(&line, "%.6f,%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->average,
				row->share, row->samples, row->p50_ns, row->p99_ns);

	for (size_t i = 0; i < nr_columns && !err; i++) {
		err = csv_text__add(&line, ",");
		if (!err)
			err = csv_text__add_quoted(&line, row->texts[i]);
	}
	return csv_text__end(&line, err, out);
}

static int write_rows(const struct screen_state *state, FILE *out)
{
	struct activity_query query;
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);
	char prefix[16] = "";
	int err = 0;

	if (state->time != ACTIVITY_TIME_STATE)
		snprintf(prefix, sizeof(prefix), "%s_", activity_time__name(state->time));
	screen_state__query(state, &query);
	fprintf(out, "active,share,samples,%sp50_ns,%sp99_ns", prefix, prefix);
	for (size_t i = 0; i < query.nr_columns; i++)
		fprintf(out, ",%s", top_column__name((enum top_column)query.columns[i]));
	fputc('\n', out);
	for (size_t i = 0; i < nr && !err; i++)
		err = write_line(rows[i], query.nr_columns, out);
	return err;
}

static int write_csv(const struct screen_state *state, FILE *out)
{
	const struct screen_level *level = &state->levels[drill__depth(state->drill)];

	return level->page == PAGE_THREAD ? screen_thread__write(state, out)
					  : write_rows(state, out);
}

/* The columns that a page is made of, in this order. */
enum { PAGE_STATE, PAGE_IDLE, PAGE_COMM, PAGE_KSTACK, PAGE_USTACK };

static const size_t page_columns[] = {
	[PAGE_STATE] = TOP_COLUMN_STATE,   [PAGE_IDLE] = SCREEN_IDLE,
	[PAGE_COMM] = TOP_COLUMN_COMM,	   [PAGE_KSTACK] = TOP_COLUMN_KSTACK,
	[PAGE_USTACK] = TOP_COLUMN_USTACK,
};

/* As samples of -w. */
static enum profile_event event_of(const char *const *row)
{
	if (!strcmp(row[PAGE_STATE], top_state__name(TOP_WIRE_RUN)))
		return PROFILE_ONCPU;
	if (!strcmp(row[PAGE_STATE], top_state__name(TOP_WIRE_RUNQ)))
		return PROFILE_QUEUED;
	return *row[PAGE_IDLE] ? PROFILE_IDLE : PROFILE_OFFCPU;
}

/* The dead spend no time. */
static bool is_dead(const char *state)
{
	return !strcmp(state, top_state__name(TOP_WIRE_ZOMBIE)) ||
	       !strcmp(state, top_state__name(TOP_WIRE_DEAD));
}

static int add_to_page(struct flamegraph_page *page, const struct activity_row *row)
{
	const char *const *text = row->texts;
	const struct flamegraph_texts texts = {
		.event = event_of(text),
		.state = strcmp(text[PAGE_STATE], top_state__name(TOP_WIRE_DISK)) ? 'S' : 'D',
		.comm = text[PAGE_COMM],
		.kernel = text[PAGE_KSTACK],
		.user = text[PAGE_USTACK],
		.ns = row->weight_ns,
	};

	return is_dead(text[PAGE_STATE]) ? 0 : flamegraph_page__add(page, &texts);
}

static int write_page(const struct screen_state *state, FILE *out)
{
	struct activity_query query;
	struct activity_view view = { 0 };
	const struct activity_row *rows;
	struct flamegraph_page *page = flamegraph_page__new();
	size_t nr;
	int err = page ? 0 : -ENOMEM;

	screen_state__query(state, &query);
	query.columns = page_columns;
	query.nr_columns = sizeof(page_columns) / sizeof(page_columns[0]);
	if (!err)
		err = activity__group(state->activity, &query, &view);
	rows = activity_view__rows(&view, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_to_page(page, &rows[i]);
	if (!err)
		err = flamegraph_page__write(page, out);
	flamegraph_page__delete(page);
	activity_view__free(&view);
	return err;
}

int screen_write__file(const struct screen_state *state, enum screen_file kind, const char *path)
{
	FILE *out = fopen(path, "wxe");
	int err = out ? 0 : -errno;

	if (out) {
		err = kind == SCREEN_FILE_CSV ? write_csv(state, out) : write_page(state, out);
		if (!err && ferror(out))
			err = -EIO;
		if (fclose(out) && !err)
			err = -errno;
		/* A part of it would be in the way of another try. */
		if (err)
			unlink(path);
	}
	if (err)
		pr_err("cannot write %s: %s", path, strerror(-err));
	else
		pr_info("%s is written", path);
	return err;
}
