/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"
#include "top/screen_graph.h"

#define NUMBER_COLUMNS 8
#define TIME_COLUMNS 11
#define WIDE 110	/* terminals with more columns have longer bars */
#define FOR_BAR 70	/* with less than these, there is no bar, */
#define FOR_TIMES 56	/* and no time */
#define NAME_LEN 24
#define LEAST_TEXT 4	/* columns of a text */
#define MOST_SHIFTED 2048

/* Where what stands in a line. */
struct form {
	size_t bar;   /* columns of it; 0: none */
	size_t times; /* columns of p50 and p99 */
	size_t texts; /* where texts begin, */
	size_t room;  /* and how many columns they have */
	size_t shift;
	size_t nr;
	const size_t *columns;
	size_t widths[ACTIVITY_GROUP]; /* with a blank behind each; 0: no row has a text there */
	char names[ACTIVITY_GROUP][NAME_LEN];
};

static void name_columns(struct form *form)
{
	for (size_t i = 0; i < form->nr; i++) {
		char *name = form->names[i];

		snprintf(name, NAME_LEN, "%s",
			 top_column__name((enum top_column)form->columns[i]));
		for (; *name; name++)
			*name = (char)toupper((unsigned char)*name);
	}
}

static size_t total_width(const struct form *form)
{
	size_t sum = 0;

	for (size_t i = 0; i < form->nr; i++)
		sum += form->widths[i];
	return sum;
}

/* The widest ones get narrower until all fit. */
static void fit(struct form *form)
{
	while (total_width(form) > form->room) {
		size_t widest = 0;

		for (size_t i = 1; i < form->nr; i++) {
			if (form->widths[i] >= form->widths[widest])
				widest = i;
		}
		if (form->widths[widest] <= LEAST_TEXT)
			return;
		form->widths[widest]--;
	}
}

/* The columns that a column of texts takes without its name; 0: there are none. */
static size_t widest_text(const struct screen_state *state, const struct canvas *canvas,
			  size_t column)
{
	const struct screen_level *level = &state->levels[drill__depth(state->drill)];
	size_t nr, width = 0;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);

	for (size_t i = level->top; i < nr && i - level->top < state->page_lines; i++)
		width = max_u64(width, canvas__width(canvas, rows[i]->texts[column]));
	return width;
}

/* Columns without texts make room for others, if there is one. */
static void measure(const struct screen_state *state, const struct canvas *canvas,
		    struct form *form)
{
	size_t sum = 0;

	for (size_t i = 0; i < form->nr; i++) {
		form->widths[i] = widest_text(state, canvas, i);
		sum += form->widths[i];
	}
	for (size_t i = 0; i < form->nr; i++) {
		if (form->widths[i] || !sum)
			form->widths[i] = max_u64(form->widths[i], strlen(form->names[i])) + 1;
	}
}

static void make_form(struct screen_state *state, const struct canvas *canvas, struct form *form)
{
	struct activity_query query;
	size_t columns = canvas->columns;

	screen_state__query(state, &query);
	form->nr = query.nr_columns;
	form->columns = query.columns;
	form->bar = columns >= WIDE ? 20 : columns >= FOR_BAR ? 8 : 0;
	form->times = columns >= FOR_TIMES ? TIME_COLUMNS : 0;
	form->texts = 1 + 2 * NUMBER_COLUMNS + (form->bar ? form->bar + 1 : 0);
	form->room = columns - min_u64(columns, form->texts + 2 * form->times);
	form->shift = screen_state__level(state)->shift;
	name_columns(form);
	measure(state, canvas, form);
	if (!form->shift)
		fit(form);
}

static void paint_bar(struct canvas *canvas, size_t line, size_t column, size_t width, double share)
{
	static const char *const blocks[] = { " ", "▏", "▎", "▍", "▌",
					      "▋", "▊", "▉", "█" };
	size_t eighths = (size_t)(share * (double)width * 8 + 0.5);

	for (size_t i = 0; i < width; i++, eighths -= min_u64(eighths, 8)) {
		size_t part = min_u64(eighths, 8);

		if (canvas->utf8)
			canvas__set(canvas, line, column + i, STYLE_NORMAL, blocks[part]);
		else
			canvas__set(canvas, line, column + i, STYLE_NORMAL, part >= 4 ? "#" : " ");
	}
}

/* The part of texts that is scrolled into sight. */
static int paint_shifted(struct canvas *canvas, size_t line, const struct form *form,
			 const char *const *texts, enum canvas_style style)
{
	struct canvas all = { .utf8 = canvas->utf8 };
	size_t at = 0, width = min_u64(total_width(form), MOST_SHIFTED);

	if (canvas__resize(&all, 1, width))
		return -ENOMEM;
	for (size_t i = 0; i < form->nr; at += form->widths[i++])
		canvas__put(&all, 0, at, form->widths[i] - !!form->widths[i], style, texts[i]);
	for (size_t i = 0; i < form->room && i + form->shift < width; i++) {
		const struct canvas_cell *cell = &all.cells[i + form->shift];

		canvas__set(canvas, line, form->texts + i, cell->style,
			    *cell->text ? cell->text : " ");
	}
	canvas__free(&all);
	return 0;
}

/* The rows are sorted by what this is the heading of, or are not. */
static enum canvas_style heading_style(const struct screen_state *state, size_t sort)
{
	return state->levels[drill__depth(state->drill)].sort == sort ? STYLE_MATCH : STYLE_HEADING;
}

static enum canvas_style style_of(const struct screen_state *state, size_t column, const char *text)
{
	if (screen_state__match(state, text))
		return STYLE_MATCH;
	return column == TOP_COLUMN_STATE ? screen_graph__style(text) : STYLE_NORMAL;
}

/* Of paths the last names tell most. */
static void put_text(struct canvas *canvas, size_t line, size_t at, size_t width,
		     enum canvas_style style, size_t column, const char *text)
{
	if (column == TOP_COLUMN_FILENAME || column == TOP_COLUMN_FILENAMESUM ||
	    column == TOP_COLUMN_CGROUP)
		canvas__put_end(canvas, line, at, width, style, text);
	else
		canvas__put(canvas, line, at, width, style, text);
}

static int paint_texts(const struct screen_state *state, struct canvas *canvas, size_t line,
		       const struct form *form, const char *const *texts, bool heading)
{
	size_t at = form->texts, end = form->texts + form->room;

	if (form->shift)
		return paint_shifted(canvas, line, form, texts,
				     heading ? STYLE_HEADING : STYLE_NORMAL);
	for (size_t i = 0; i < form->nr && at < end; at += form->widths[i++]) {
		size_t width = min_u64(form->widths[i], end - at);

		if (!width)
			continue;
		put_text(canvas, line, at, width - 1,
			 heading ? heading_style(state, SORT_COLUMNS + i)
				 : style_of(state, form->columns[i], texts[i]),
			 heading ? TOP_COLUMNS : form->columns[i], texts[i]);
	}
	return 0;
}

static int paint_heading(const struct screen_state *state, struct canvas *canvas, size_t line,
			 const struct form *form)
{
	const char *texts[ACTIVITY_GROUP];
	size_t right = form->texts + form->room;
	char p50[16], p99[16];

	snprintf(p50, sizeof(p50), "%sP50", activity_time__prefix(state->time));
	snprintf(p99, sizeof(p99), "%sP99", activity_time__prefix(state->time));
	for (size_t i = 0; i < form->nr; i++)
		texts[i] = form->names[i];
	canvas__put_right(canvas, line, 1, NUMBER_COLUMNS - 1, heading_style(state, SORT_ACTIVE),
			  "ACTIVE");
	canvas__put_right(canvas, line, 1 + NUMBER_COLUMNS, NUMBER_COLUMNS - 1, STYLE_HEADING,
			  "SHARE");
	if (form->times) {
		canvas__put_right(canvas, line, right, form->times, heading_style(state, SORT_P50),
				  p50);
		canvas__put_right(canvas, line, right + form->times, form->times,
				  heading_style(state, SORT_P99), p99);
	}
	return paint_texts(state, canvas, line, form, texts, true);
}

static void paint_time(struct canvas *canvas, size_t line, size_t column, uint64_t ns)
{
	char text[32] = "";

	if (ns)
		units__format_time(ns, text, sizeof(text));
	canvas__put_right(canvas, line, column + 1, TIME_COLUMNS - 1, STYLE_NORMAL, text);
}

static int paint_row(const struct screen_state *state, struct canvas *canvas, size_t line,
		     const struct form *form, const struct activity_row *row)
{
	size_t right = form->texts + form->room;
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%.2f", row->average);
	canvas__put_right(canvas, line, 1, NUMBER_COLUMNS - 1, STYLE_NORMAL, text);
	snprintf(text, sizeof(text), "%.1f%%", 100 * row->share);
	canvas__put_right(canvas, line, 1 + NUMBER_COLUMNS, NUMBER_COLUMNS - 1, STYLE_NORMAL, text);
	if (form->bar)
		paint_bar(canvas, line, 1 + 2 * NUMBER_COLUMNS, form->bar, row->share);
	err = paint_texts(state, canvas, line, form, row->texts, false);
	if (form->times) {
		paint_time(canvas, line, right, row->p50_ns);
		paint_time(canvas, line, right + form->times, row->p99_ns);
	}
	return err;
}

int screen_table__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines)
{
	const struct screen_level *level = screen_state__level(state);
	struct form form = { 0 };
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);
	int err;

	if (lines < 2)
		return 0;
	screen_state__set_page(state, lines - 1);
	make_form(state, canvas, &form);
	err = paint_heading(state, canvas, line, &form);
	for (size_t i = level->top; i < nr && i - level->top < lines - 1 && !err; i++) {
		size_t at = line + 1 + i - level->top;

		err = paint_row(state, canvas, at, &form, rows[i]);
		if (i != level->at)
			continue;
		canvas__restyle(canvas, at, 0, SIZE_MAX, STYLE_SELECTED);
		canvas__set(canvas, at, 0, STYLE_SELECTED, ">");
	}
	if (!nr && lines > 2)
		canvas__put(canvas, line + 2, 2, SIZE_MAX, STYLE_DIM, "no active thread");
	return err;
}
