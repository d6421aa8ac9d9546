/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_GRAPH_H
#define DENET_TOP_SCREEN_GRAPH_H

#include "screen/canvas.h"
#include "top/screen_state.h"

/* The colour of a state, by its name. */
enum canvas_style screen_graph__style(const char *state);

/*
 * Paints how many threads were active over the last minutes, by their state, as far as they pass
 * the filters of this level: bars, and a line that tells the states and their averages in the
 * window. 0 or -ENOMEM.
 */
int screen_graph__paint(const struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines);

#endif /* DENET_TOP_SCREEN_GRAPH_H */
