/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "screen/keys.h"
#include "top/screen_choices.h"
#include "top/screen_drill.h"

/* Columns that a key scrolls by. */
#define SHIFT 8

/* The rows of before and behind. */
static void scroll(struct screen_state *state, int key)
{
	struct screen_level *level = screen_state__level(state);
	size_t at = level->at, page = state->page_lines;

	switch (key) {
	case SCREEN_KEY_UP:
		at -= at ? 1 : 0;
		break;
	case SCREEN_KEY_DOWN:
		at++;
		break;
	case SCREEN_KEY_PAGE_UP:
		at -= min_u64(at, page);
		break;
	case SCREEN_KEY_PAGE_DOWN:
		at += page;
		break;
	case SCREEN_KEY_HOME:
		at = 0;
		break;
	case SCREEN_KEY_END:
		at = SIZE_MAX;
		break;
	case SCREEN_KEY_LEFT:
		level->shift -= min_u64(level->shift, SHIFT);
		return;
	default:
		level->shift += SHIFT;
		return;
	}
	screen_state__choose(state, at);
}

/* Lines of stacks, or of the columns of a thread. */
static void scroll_detail(struct screen_state *state, int key)
{
	size_t top = state->detail_top, page = max_u64(state->page_lines, 1);

	if (key == SCREEN_KEY_UP || key == '{')
		top -= top ? 1 : 0;
	else if (key == SCREEN_KEY_DOWN || key == '}')
		top++;
	else if (key == SCREEN_KEY_PAGE_UP)
		top -= min_u64(top, page);
	else if (key == SCREEN_KEY_PAGE_DOWN)
		top += page;
	else
		top = key == SCREEN_KEY_END ? SIZE_MAX : 0;
	state->detail_top = top;
}

static bool row_matches(const struct screen_state *state, size_t row, size_t nr_columns)
{
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);

	for (size_t i = 0; i < nr_columns; i++) {
		if (screen_state__match(state, rows[row]->texts[i]))
			return true;
	}
	return false;
}

/* From the row at a distance on, or back, and around. */
static void search(struct screen_state *state, size_t distance, bool back)
{
	size_t nr, at = screen_state__level(state)->at;
	struct activity_query query;

	screen_state__rows(state, &nr);
	screen_state__query(state, &query);
	for (size_t i = distance; i < nr + distance; i++) {
		size_t row = (back ? at + nr - i % nr : at + i) % nr;

		if (!row_matches(state, row, query.nr_columns))
			continue;
		screen_state__choose(state, row);
		screen_state__level(state)->moved = true;
		return;
	}
}

/* Half a window at a time. At the end the latest look is followed again. */
static void move_window(struct screen_state *state, bool back)
{
	uint64_t end = state->until ? state->until : state->latest + 1;
	uint64_t step = state->window_ns / 2;

	if (!state->window_ns || !state->latest)
		return;
	if (back)
		end = max_u64(end - min_u64(end, step), state->oldest + 1);
	else
		end += step;
	state->until = end > state->latest ? 0 : end;
	state->stale = true;
}

static int take_prompt(struct screen_state *state, int key)
{
	enum edit_end end = line_edit__key(&state->edit, key);
	enum screen_prompt prompt = state->prompt;

	if (end == EDIT_GOES_ON)
		return 0;
	state->prompt = PROMPT_NONE;
	if (end == EDIT_CANCELLED)
		return 0;
	if (prompt == PROMPT_FILE) {
		state->write = *state->edit.text;
		return 0;
	}
	snprintf(state->search, sizeof(state->search), "%s", state->edit.text);
	search(state, 0, false);
	return 0;
}

static int take_menu(struct screen_state *state, int key)
{
	enum menu_end end = menu__key(&state->menu, key);

	if (end == MENU_CHOSEN)
		return screen_choices__apply(state);
	if (end == MENU_CANCELLED)
		menu__close(&state->menu);
	return 0;
}

static void take_help(struct screen_state *state, int key)
{
	if (key == SCREEN_KEY_UP)
		state->help_top -= state->help_top ? 1 : 0;
	else if (key == SCREEN_KEY_DOWN)
		state->help_top++;
	else if (key == SCREEN_KEY_PAGE_DOWN || key == ' ')
		state->help_top += state->page_lines;
	else if (key == SCREEN_KEY_PAGE_UP)
		state->help_top -= min_u64(state->help_top, state->page_lines);
	else if (key == SCREEN_KEY_HOME)
		state->help_top = 0;
	else
		state->help = false;
}

static void open_menu(struct screen_state *state, int key)
{
	static const char letters[] = "gstfw";
	static const enum screen_menu kinds[] = { SCREEN_MENU_GROUP, SCREEN_MENU_SORT,
						  SCREEN_MENU_WINDOW, SCREEN_MENU_FILTER,
						  SCREEN_MENU_WRITE };

	screen_choices__open(state, kinds[strchr(letters, key) - letters]);
}

/* ESC first ends a search. */
static int go_back(struct screen_state *state, int key)
{
	if (key == SCREEN_KEY_ESC && *state->search) {
		*state->search = '\0';
		return 0;
	}
	return screen_drill__up(state);
}

static int take_letter(struct screen_state *state, int key)
{
	switch (key) {
	case 'q':
		state->quit = true;
		break;
	case 'h':
	case '?':
		state->help = true;
		state->help_top = 0;
		break;
	case 'p':
		state->paused = !state->paused && !state->recorded;
		break;
	case 'm':
		state->heat = !state->heat;
		break;
	case 'l':
		state->time = (state->time + 1) % ACTIVITY_TIMES;
		state->stale = true;
		break;
	case '/':
		line_edit__begin(&state->edit, "");
		state->prompt = PROMPT_SEARCH;
		break;
	case 'n':
	case 'N':
		search(state, 1, key == 'N');
		break;
	case '[':
	case ']':
		move_window(state, key == '[');
		break;
	case '{':
	case '}':
		scroll_detail(state, key);
		break;
	case 'k':
		scroll(state, SCREEN_KEY_UP);
		break;
	case 'j':
		scroll(state, SCREEN_KEY_DOWN);
		break;
	case 'g':
	case 's':
	case 't':
	case 'f':
	case 'w':
		open_menu(state, key);
		break;
	}
	return 0;
}

static bool scrolls_detail(struct screen_state *state, int key)
{
	return screen_state__level(state)->page == PAGE_THREAD && key != SCREEN_KEY_LEFT &&
	       key != SCREEN_KEY_RIGHT;
}

static int take(struct screen_state *state, int key)
{
	if (state->prompt)
		return take_prompt(state, key);
	if (state->menu.title)
		return take_menu(state, key);
	if (state->help) {
		take_help(state, key);
		return 0;
	}
	if (key >= SCREEN_KEY_UP && key <= SCREEN_KEY_END) {
		if (scrolls_detail(state, key))
			scroll_detail(state, key);
		else
			scroll(state, key);
		return 0;
	}
	if (key == SCREEN_KEY_ENTER)
		return screen_drill__down(state);
	if (key == SCREEN_KEY_BACKSPACE || key == SCREEN_KEY_ESC)
		return go_back(state, key);
	return take_letter(state, key);
}

int screen_keys__take(struct screen_state *state, int key)
{
	int err = take(state, key);

	/* The next key is about the rows of this place. */
	return err || !state->stale ? err : screen_state__refresh(state);
}
