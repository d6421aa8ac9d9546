/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_help.h"

#include "base/minmax.h"

#define KEY_COLUMNS 20

static const struct {
	const char *key;
	const char *text;
} entries[] = {
	{ "Up, Down, k, j", "choose a row" },
	{ "PgUp, PgDn", "a page of rows back, or on" },
	{ "Home, End", "the first row, which is followed, or the last one" },
	{ "Left, Right", "scroll long texts" },
	{ "Enter", "into the row: what its wait is about, stacks, threads, one thread" },
	{ "Backspace, Esc", "back up" },
	{ "{, }", "scroll the stacks below the rows" },
	{ "g", "choose the columns to group by" },
	{ "s", "sort; the same once more: the other way" },
	{ "f", "show only rows like this one, or all others; take a filter away" },
	{ "/, n, N", "search, the next one, the one before; Esc ends it" },
	{ "t", "choose how much time is shown" },
	{ "[, ]", "half of that time back, or on" },
	{ "l", "what P50 and P99 are of: times in state, in call, of requests" },
	{ "m", "a heat map of these times in place of the bars, and back" },
	{ "p", "pause: nothing is added until p is pressed again" },
	{ "w", "write the table as CSV, or its samples as a flame graph" },
	{ "h, ?", "this help" },
	{ "q, Ctrl-C", "end" },
	{ "", "" },
	{ "ACTIVE", "threads that were so at one time, on average" },
	{ "SHARE", "of all rows of this table" },
	{ "P50, P99", "how long they had been in their state: half of the looks" },
	{ "", "met a thread that had been so for P50 or less" },
	{ "", "" },
	{ "RUN, RUNQ", "on a CPU; waits for one" },
	{ "DISK, SLEEP", "waits uninterruptibly; waits, but not for work" },
	{ "", "" },
	{ "", "`man denet-top` names the columns, and says what is idle." },
};
#define NR_ENTRIES (sizeof(entries) / sizeof(entries[0]))

void screen_help__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines)
{
	state->page_lines = max_u64(lines, 1);
	state->help_top = min_u64(state->help_top, NR_ENTRIES - min_u64(NR_ENTRIES, lines));
	for (size_t i = 0; i < lines && state->help_top + i < NR_ENTRIES; i++) {
		size_t entry = state->help_top + i;

		canvas__put(canvas, line + i, 1, KEY_COLUMNS - 1, STYLE_KEY, entries[entry].key);
		canvas__put(canvas, line + i, KEY_COLUMNS, SIZE_MAX, STYLE_NORMAL,
			    entries[entry].text);
	}
}
