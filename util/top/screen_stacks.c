/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_stacks.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "top/screen_table.h"

#define FRAME_LEN 512

static size_t nr_frames(const char *stack)
{
	size_t nr = *stack ? 1 : 0;

	for (; *stack; stack++)
		nr += *stack == ';';
	return nr;
}

/* Frame i of "leaf;its caller;...", "" behind the last one. */
static void put_frame(const char *stack, size_t i, char *buf)
{
	for (; i && stack; i--) {
		stack = strchr(stack, ';');
		stack += stack ? 1 : 0;
	}
	snprintf(buf, FRAME_LEN, "%.*s", stack ? (int)strcspn(stack, ";") : 0, stack ? stack : "");
}

static void paint_side(const struct screen_state *state, struct canvas *canvas, size_t line,
		       size_t lines, size_t column, size_t width, const char *title,
		       const char *stack)
{
	size_t nr = nr_frames(stack);
	char text[FRAME_LEN];

	snprintf(text, sizeof(text), "%s, %zu frames", title, nr);
	if (!nr)
		snprintf(text, sizeof(text), "%s: none", title);
	canvas__put(canvas, line, column, width, STYLE_HEADING, text);
	for (size_t i = state->detail_top; i < nr && i - state->detail_top + 1 < lines; i++) {
		put_frame(stack, i, text);
		canvas__put(canvas, line + 1 + i - state->detail_top, column, width,
			    screen_state__match(state, text) ? STYLE_MATCH : STYLE_NORMAL, text);
	}
}

/* One side or the other has a line for each that is scrolled to. */
static void clamp_top(struct screen_state *state, const struct activity_row *row, size_t lines)
{
	size_t nr = max_u64(nr_frames(row->texts[0]), nr_frames(row->texts[1]));

	state->detail_top = min_u64(state->detail_top, nr - min_u64(nr, lines - 1));
}

int screen_stacks__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			 size_t lines)
{
	const struct activity_row *row = screen_state__chosen(state);
	size_t nr, half = canvas->columns / 2, above, below;
	int err;

	screen_state__rows(state, &nr);
	above = min_u64(nr + 1, max_u64(lines / 3, 3));
	err = screen_table__paint(state, canvas, line, min_u64(above, lines));
	if (!row || err || lines < above + 3)
		return err;
	line += above + 1;
	below = lines - above - 1;
	clamp_top(state, row, below);
	paint_side(state, canvas, line, below, 1, half - min_u64(half, 2), "KERNEL", row->texts[0]);
	paint_side(state, canvas, line, below, half, canvas->columns - half, "USER", row->texts[1]);
	for (size_t i = 0; i < below; i++)
		canvas__set(canvas, line + i, half - 1, STYLE_DIM, canvas->utf8 ? "│" : "|");
	return 0;
}
