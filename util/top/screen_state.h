/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_STATE_H
#define DENET_TOP_SCREEN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "screen/line_edit.h"
#include "screen/menu.h"
#include "top/activity.h"
#include "top/columns.h"
#include "top/drill.h"

/*
 * What the screen shows: a place in an activity whose columns are those of enum top_column, and one
 * more, which no list of columns has. Keys change it (screen_keys.h). It knows no terminal.
 */

#define SCREEN_IDLE TOP_COLUMNS /* the one more: "idle" of a thread that waits for work, or "" */
#define SCREEN_TEXTS (TOP_COLUMNS + 1)

#define SCREEN_LEVELS 16

enum screen_page {
	PAGE_TABLE,
	PAGE_STACKS,  /* rows are pairs of stacks; those of the chosen one stand side by side */
	PAGE_THREADS, /* rows are threads */
	PAGE_THREAD,  /* one thread with all columns */
};

/* What rows are sorted by; SORT_COLUMNS + i: the text of a column. */
enum { SORT_ACTIVE, SORT_P50, SORT_P99, SORT_COLUMNS };

/* How one level of the way down is looked at. */
struct screen_level {
	enum screen_page page;
	size_t at;    /* the row that is chosen */
	size_t top;   /* the first one that is shown */
	size_t shift; /* columns that are scrolled out to the left */
	size_t sort;
	bool reversed;
	bool moved; /* the choice stays with its row, wherever that goes; else with the first */
};

enum screen_menu { SCREEN_MENU_GROUP, SCREEN_MENU_SORT, SCREEN_MENU_WINDOW, SCREEN_MENU_FILTER,
		   SCREEN_MENU_WRITE };
enum screen_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILE };
enum screen_file { SCREEN_FILE_NONE, SCREEN_FILE_CSV, SCREEN_FILE_PAGE };

struct screen_state {
	const struct activity *activity; /* borrowed */
	bool recorded;			 /* nothing is added to it */
	struct drill *drill;
	struct screen_level levels[SCREEN_LEVELS];
	uint64_t window_ns; /* 0: all that is there */
	uint64_t until;	    /* end of the window; 0: the latest look */
	size_t page_lines;  /* rows that are shown at once */
	size_t detail_top;  /* the first line of what stands below the rows, or in their place */
	bool paused;
	bool heat; /* a heat map stands in place of the graph */
	enum activity_time time; /* that percentiles and the heat map are of */
	bool help;
	size_t help_top;
	struct menu menu;
	enum screen_menu menu_kind; /* while it is open */
	struct line_edit edit;
	enum screen_prompt prompt;
	char search[LINE_EDIT_LEN];
	enum screen_file file; /* to be written, to the path in edit; or being asked for */
	bool write;	       /* it is to be written: whoever does it makes this false */
	bool quit;
	bool stale; /* the rows are not those of this place any more */

	/* What screen_state__refresh() has found. */
	struct activity_view view;
	struct buffer rows; /* const struct activity_row *, sorted */
	struct buffer held; /* texts of the row that is chosen, each with its NUL */
	uint64_t oldest, latest; /* times of the looks that are there */
};

/* Begins grouped by these columns. 0 or -ENOMEM; screen_state__free() must follow in any case. */
int screen_state__init(struct screen_state *state, const struct activity *activity,
		       const enum top_column *columns, size_t nr);
void screen_state__free(struct screen_state *state);

/* Groups what the activity has now; a choice stays with its row. 0 or -ENOMEM. */
int screen_state__refresh(struct screen_state *state);

/* The level that is shown. */
struct screen_level *screen_state__level(struct screen_state *state);

/* The rows, and the one that is chosen; NULL: there is none. */
const struct activity_row *const *screen_state__rows(const struct screen_state *state, size_t *nr);
const struct activity_row *screen_state__chosen(const struct screen_state *state);

/* What is shown as a query of the activity: valid until the next key. */
void screen_state__query(const struct screen_state *state, struct activity_query *query);

/* Chooses a row, of those that are there. */
void screen_state__choose(struct screen_state *state, size_t row);

/* So many rows are shown at once, the one that is chosen among them. */
void screen_state__set_page(struct screen_state *state, size_t lines);

/* Where a text has what was searched for, in either case; NULL: nowhere. */
const char *screen_state__match(const struct screen_state *state, const char *text);

#endif /* DENET_TOP_SCREEN_STATE_H */
