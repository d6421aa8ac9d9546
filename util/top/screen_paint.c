/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_paint.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"
#include "top/screen_choices.h"
#include "top/screen_graph.h"
#include "top/screen_heat.h"
#include "top/screen_help.h"
#include "top/screen_stacks.h"
#include "top/screen_table.h"
#include "top/screen_thread.h"
#include "top/wall_time.h"

/* "2026-01-31T23:59:59" */
#define DATE_LEN 19
#define TIME_LEN 8
/* Columns for what always stands behind in the first line: "  own CPU 12.3%", and one to spare. */
#define FIRST_LINE_REST 16
#define CRUMB_LEN 40

static void put_time(uint64_t time, const struct screen_facts *facts, bool date,
		     char buf[WALL_TIME_LEN])
{
	wall_time__put(time + facts->wall_lead, buf);
	buf[DATE_LEN] = '\0';
	if (!date)
		memmove(buf, buf + DATE_LEN - TIME_LEN, TIME_LEN + 1);
}

/* What is shown of a recording, behind the name. */
static void paint_source(const struct screen_state *state, const struct screen_facts *facts,
			 struct canvas *canvas, size_t at)
{
	char text[128], begin[WALL_TIME_LEN], end[WALL_TIME_LEN];

	at += canvas__put(canvas, 0, at, 40, STYLE_NORMAL, facts->source);
	if (facts->reading)
		at += canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, "  reading ...");
	put_time(state->oldest, facts, true, begin);
	put_time(state->latest, facts, true, end);
	snprintf(text, sizeof(text), "  %s to %s", begin, end);
	if (state->latest)
		canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, text);
	else if (!facts->reading)
		canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, "  nothing");
}

static void paint_head(const struct screen_state *state, const struct screen_facts *facts,
		       struct canvas *canvas)
{
	char text[256], filtered[32] = "", end[WALL_TIME_LEN] = "";
	size_t at = canvas__put(canvas, 0, 0, SIZE_MAX, STYLE_TITLE, "denet-top");

	if (facts->source) {
		paint_source(state, facts, canvas, at + 2);
		return;
	}
	if (state->latest)
		put_time(state->latest, facts, false, end);
	snprintf(text, sizeof(text), "  %.1f looks/s  %.0f threads, %.0f idle", facts->looks,
		 facts->threads, facts->idle);
	at += canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, text);
	if (facts->filtered >= 0.5)
		snprintf(filtered, sizeof(filtered), ", %.0f filtered", facts->filtered);
	snprintf(text, sizeof(text), " (%.0f at a futex)", facts->futex);
	if (facts->futex >= 0.5 &&
	    at + strlen(text) + strlen(filtered) + FIRST_LINE_REST <= canvas->columns)
		at += canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, text);
	at += canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, filtered);
	snprintf(text, sizeof(text), "  own CPU %.1f%%", 100 * facts->cpu);
	canvas__put(canvas, 0, at, SIZE_MAX, STYLE_NORMAL, text);
	if (canvas->columns > at + strlen(text) + TIME_LEN)
		canvas__put_right(canvas, 0, canvas->columns - TIME_LEN, TIME_LEN, STYLE_NORMAL,
				  end);
}

/* What is shown of the time, right in a line. Returns the columns that are left. */
static size_t paint_window(const struct screen_state *state, const struct screen_facts *facts,
			   struct canvas *canvas, size_t line)
{
	char text[128], window[32], end[WALL_TIME_LEN];
	size_t width;

	screen_choices__put_window(state->window_ns, window, sizeof(window));
	put_time(state->until, facts, false, end);
	snprintf(text, sizeof(text), "%s%s%s%s%s", state->paused ? "PAUSED  " : "",
		 state->window_ns ? state->until ? "" : "last " : "", window,
		 state->until ? " before " : "", state->until ? end : "");
	width = min_u64(strlen(text), canvas->columns);
	canvas__put(canvas, line, canvas->columns - width, width,
		    state->paused || state->until ? STYLE_ALARM : STYLE_TITLE, text);
	return canvas->columns - width;
}

/* The texts of the row that a level is below, and the filters that were added to it. */
static size_t put_crumb(const struct screen_state *state, size_t level, char *buf, size_t size)
{
	const struct activity_filter *filters;
	size_t nr_row, nr = drill__level(state->drill, level, &filters, &nr_row), at = 0;

	*buf = '\0';
	for (size_t i = 0; i < nr && at < size - 1; i++) {
		const char *text = filters[i].text, *name = "", *sign = "";

		/* Stacks begin with their leaf. */
		size_t len = strcspn(text, ";");

		if (i >= nr_row) {
			name = top_column__name((enum top_column)filters[i].column);
			sign = filters[i].out ? "!=" : "=";
		} else if (!len) {
			continue;
		}
		at += (size_t)snprintf(buf + at, size - at, "%s%s%s%.*s", at ? " " : "", name, sign,
				       (int)min_u64(len, size), text);
	}
	return nr;
}

static void paint_crumbs(const struct screen_state *state, struct canvas *canvas, size_t line,
			 size_t room)
{
	size_t at = 1 + canvas__put(canvas, line, 1, room, STYLE_TITLE, "all");
	char crumb[CRUMB_LEN];

	for (size_t i = 0; i <= drill__depth(state->drill); i++) {
		size_t nr = put_crumb(state, i, crumb, sizeof(crumb));

		if (at + 4 >= room || (!i && !nr))
			continue;
		if (i)
			at += canvas__put(canvas, line, at, room - at, STYLE_DIM, " > ");
		else
			at += canvas__put(canvas, line, at, room - at, STYLE_DIM, " ");
		at += canvas__put(canvas, line, at, room - min_u64(at, room), STYLE_TITLE,
				  *crumb ? crumb : "-");
	}
}

static void paint_keys(struct canvas *canvas, size_t line)
{
	static const struct {
		const char *key, *text;
	} keys[] = {
		{ "Enter", "into" }, { "Bksp", "back" }, { "g", "group" }, { "s", "sort" },
		{ "f", "filter" },   { "/", "search" },	 { "t", "time" },  { "p", "pause" },
		{ "w", "write" },    { "h", "help" },	 { "q", "quit" },
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t width = strlen(keys[i].key) + strlen(keys[i].text) + 2;

		if (at + width > canvas->columns)
			return;
		at += canvas__put(canvas, line, at, SIZE_MAX, STYLE_KEY, keys[i].key) + 1;
		canvas__put(canvas, line, at, SIZE_MAX, STYLE_DIM, keys[i].text);
		at += strlen(keys[i].text) + 1;
	}
}

static void paint_foot(const struct screen_state *state, const struct screen_facts *facts,
		       struct canvas *canvas)
{
	size_t line = canvas->lines - 1, at;

	if (state->prompt) {
		at = canvas__put(canvas, line, 0, SIZE_MAX, STYLE_KEY,
				 state->prompt == PROMPT_SEARCH ? "search: " : "write to: ");
		at += canvas__put(canvas, line, at, SIZE_MAX, STYLE_NORMAL, state->edit.text);
		canvas__set(canvas, line, at, STYLE_SELECTED, " ");
	} else if (facts->message) {
		canvas__put(canvas, line, 0, SIZE_MAX, facts->alarm ? STYLE_ALARM : STYLE_NORMAL,
			    facts->message);
	} else {
		paint_keys(canvas, line);
	}
}

static int paint_body(struct screen_state *state, struct canvas *canvas, size_t line, size_t lines)
{
	switch (screen_state__level(state)->page) {
	case PAGE_STACKS:
		return screen_stacks__paint(state, canvas, line, lines);
	case PAGE_THREAD:
		return screen_thread__paint(state, canvas, line, lines);
	default:
		return screen_table__paint(state, canvas, line, lines);
	}
}

/* Lines of the graph, which small screens have none of. */
static size_t graph_lines(size_t lines)
{
	if (lines < 14)
		return 0;
	return lines < 20 ? 4 : lines < 40 ? 6 : 10;
}

static int paint_small(struct canvas *canvas)
{
	char text[64];

	snprintf(text, sizeof(text), "too small: %dx%d", SCREEN_LEAST_COLUMNS,
		 SCREEN_LEAST_LINES);
	canvas__put(canvas, 0, 0, SIZE_MAX, STYLE_NORMAL, text);
	return 0;
}

int screen_paint(struct screen_state *state, const struct screen_facts *facts,
		 struct canvas *canvas)
{
	size_t graph = graph_lines(canvas->lines), line = 1 + graph;
	int err;

	canvas__clear(canvas);
	if (canvas->lines < SCREEN_LEAST_LINES || canvas->columns < SCREEN_LEAST_COLUMNS)
		return paint_small(canvas);
	paint_head(state, facts, canvas);
	paint_foot(state, facts, canvas);
	if (state->help) {
		screen_help__paint(state, canvas, 2, canvas->lines - 3);
		return 0;
	}
	err = state->heat ? screen_heat__paint(state, canvas, 1, graph)
			  : screen_graph__paint(state, canvas, 1, graph);
	paint_crumbs(state, canvas, line, paint_window(state, facts, canvas, line) - 1);
	if (!err)
		err = paint_body(state, canvas, line + 1, canvas->lines - line - 2);
	if (state->menu.title)
		menu__paint(&state->menu, canvas);
	return err;
}
