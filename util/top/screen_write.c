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

static enum profile_event event_of(const char *state)
{
	if (!strcmp(state, "RUN"))
		return PROFILE_ONCPU;
	return strcmp(state, "RUNQ") != 0 ? PROFILE_OFFCPU : PROFILE_QUEUED;
}

static int write_page(const struct screen_state *state, FILE *out)
{
	static const size_t columns[] = { TOP_COLUMN_STATE, TOP_COLUMN_COMM, TOP_COLUMN_KSTACK,
					  TOP_COLUMN_USTACK };
	struct activity_query query;
	struct activity_view view = { 0 };
	const struct activity_row *rows;
	struct flamegraph_texts texts;
	struct flamegraph_page *page = flamegraph_page__new();
	size_t nr;
	int err = page ? 0 : -ENOMEM;

	screen_state__query(state, &query);
	query.columns = columns;
	query.nr_columns = sizeof(columns) / sizeof(columns[0]);
	if (!err)
		err = activity__group(state->activity, &query, &view);
	rows = activity_view__rows(&view, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		const char *const *text = rows[i].texts;

		texts = (struct flamegraph_texts){ .event = event_of(text[0]),
						   .state = *text[0], .comm = text[1],
						   .kernel = text[2], .user = text[3],
						   .ns = rows[i].weight_ns };
		err = flamegraph_page__add(page, &texts);
	}
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
