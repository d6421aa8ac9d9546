/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_choices.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "top/screen_drill.h"

#define MINUTE (60 * NSEC_PER_SEC)

static const uint64_t windows[] = { 10 * NSEC_PER_SEC, 30 * NSEC_PER_SEC, MINUTE, 5 * MINUTE,
				    15 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 0 };
#define NR_WINDOWS (sizeof(windows) / sizeof(windows[0]))

static void fill_group(struct screen_state *state)
{
	struct activity_query query;

	menu__open(&state->menu, "Group by (space marks, Enter ends)", true);
	for (int i = 0; i < TOP_COLUMNS; i++)
		menu__add(&state->menu, "%s", top_column__name((enum top_column)i));
	screen_state__query(state, &query);
	for (size_t i = 0; i < query.nr_columns; i++)
		menu__toggle(&state->menu, query.columns[i]);
}

/* Without marks, the column that Enter is pressed on. */
static void apply_group(struct screen_state *state)
{
	const struct menu *menu = &state->menu;
	size_t columns[ACTIVITY_GROUP] = { menu->at }, nr = menu->nr_marked;

	if (nr > ACTIVITY_GROUP)
		nr = ACTIVITY_GROUP;
	for (size_t i = 0; i < menu->nr; i++) {
		if (menu->items[i].mark && menu->items[i].mark <= ACTIVITY_GROUP)
			columns[menu->items[i].mark - 1] = i;
	}
	screen_drill__regroup(state, columns, nr ? nr : 1);
}

static void fill_sort(struct screen_state *state)
{
	const struct screen_level *level = screen_state__level(state);
	struct activity_query query;

	menu__open(&state->menu, "Sort by (once more: the other way)", false);
	menu__add(&state->menu, "active");
	menu__add(&state->menu, "p50");
	menu__add(&state->menu, "p99");
	screen_state__query(state, &query);
	for (size_t i = 0; i < query.nr_columns; i++)
		menu__add(&state->menu, "%s",
			  top_column__name((enum top_column)query.columns[i]));
	state->menu.at = level->sort;
}

static int apply_sort(struct screen_state *state)
{
	struct screen_level *level = screen_state__level(state);

	level->reversed = level->sort == state->menu.at && !level->reversed;
	level->sort = state->menu.at;
	return screen_state__refresh(state);
}

char *screen_choices__put_window(uint64_t window_ns, char *buf, size_t size)
{
	if (!window_ns)
		snprintf(buf, size, "all");
	else if (window_ns < MINUTE)
		snprintf(buf, size, "%" PRIu64 " s", (uint64_t)(window_ns / NSEC_PER_SEC));
	else if (window_ns < 60 * MINUTE)
		snprintf(buf, size, "%" PRIu64 " min", (uint64_t)(window_ns / MINUTE));
	else
		snprintf(buf, size, "%" PRIu64 " h", (uint64_t)(window_ns / (60 * MINUTE)));
	return buf;
}

static void fill_window(struct screen_state *state)
{
	char text[32];

	menu__open(&state->menu, "Time that is shown", false);
	for (size_t i = 0; i < NR_WINDOWS; i++) {
		menu__add(&state->menu, "%s",
			  screen_choices__put_window(windows[i], text, sizeof(text)));
		if (windows[i] == state->window_ns)
			state->menu.at = i;
	}
}

static int apply_window(struct screen_state *state)
{
	state->window_ns = windows[state->menu.at];
	if (!state->window_ns)
		state->until = 0;
	return screen_state__refresh(state);
}

/* Two items for each column of the row that is chosen. */
static void fill_filter(struct screen_state *state)
{
	const struct activity_row *row = screen_state__chosen(state);
	struct activity_query query;

	menu__open(&state->menu, "Filter", false);
	screen_state__query(state, &query);
	for (size_t i = 0; row && i < query.nr_columns; i++) {
		const char *name = top_column__name((enum top_column)query.columns[i]);
		const char *text = row->texts[i];

		menu__add(&state->menu, "only    %s = %.120s", name, text);
		menu__add(&state->menu, "without %s = %.120s", name, text);
	}
	menu__add(&state->menu, "take the last filter of this level away");
}

/* The rows are those of the time when the menu was opened. */
static int apply_filter(struct screen_state *state)
{
	const struct activity_row *row = screen_state__chosen(state);
	size_t at = state->menu.at;
	struct activity_filter filter = { .out = at % 2 };
	struct activity_query query;
	int err = 0;

	screen_state__query(state, &query);
	if (row && at / 2 < query.nr_columns) {
		filter.column = query.columns[at / 2];
		filter.text = row->texts[at / 2];
		err = drill__filter(state->drill, &filter);
	} else {
		drill__unfilter(state->drill);
	}
	state->stale = true;
	return err;
}

static void fill_write(struct screen_state *state)
{
	menu__open(&state->menu, "Write what is seen", false);
	menu__add(&state->menu, "CSV: the rows of this table");
	menu__add(&state->menu, "page: a flame graph of these samples, for a browser");
}

/* Asks for a name next. */
static void apply_write(struct screen_state *state)
{
	static const char *const ends[] = { "csv", "html" };
	char name[64], stamp[32];
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	snprintf(name, sizeof(name), "denet-top-%s.%s", stamp, ends[state->menu.at]);
	state->file = state->menu.at ? SCREEN_FILE_PAGE : SCREEN_FILE_CSV;
	line_edit__begin(&state->edit, name);
	state->prompt = PROMPT_FILE;
}

void screen_choices__open(struct screen_state *state, enum screen_menu kind)
{
	static void (*const fill[])(struct screen_state *state) = {
		[SCREEN_MENU_GROUP] = fill_group,   [SCREEN_MENU_SORT] = fill_sort,
		[SCREEN_MENU_WINDOW] = fill_window, [SCREEN_MENU_FILTER] = fill_filter,
		[SCREEN_MENU_WRITE] = fill_write,
	};

	state->menu_kind = kind;
	fill[kind](state);
}

int screen_choices__apply(struct screen_state *state)
{
	int err = 0;

	menu__close(&state->menu);
	switch (state->menu_kind) {
	case SCREEN_MENU_GROUP:
		apply_group(state);
		break;
	case SCREEN_MENU_SORT:
		err = apply_sort(state);
		break;
	case SCREEN_MENU_WINDOW:
		err = apply_window(state);
		break;
	case SCREEN_MENU_FILTER:
		err = apply_filter(state);
		break;
	case SCREEN_MENU_WRITE:
		apply_write(state);
		break;
	}
	return err;
}
