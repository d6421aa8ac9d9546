/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_GRAPH_H
#define DENET_TOP_SCREEN_GRAPH_H

#include <stddef.h>

#include "screen/canvas.h"
#include "top/screen_state.h"

/* The colour of a state, by its name. */
enum canvas_style screen_graph__style(const char *state);

/* Time that is shown left of a column, and its scale. */
#define SCREEN_GRAPH_LABEL 6
#define SCREEN_GRAPH_MOST 512 /* steps */

/*
 * The last minutes in nr steps, as far as samples pass the filters of this level. steps->steps has
 * room for them. 0 or -ENOMEM.
 */
int screen_graph__steps(const struct screen_state *state, size_t nr, struct activity_steps *steps);

/* "last 15 min:  " into a line from SCREEN_GRAPH_LABEL on. Returns the column behind it. */
size_t screen_graph__put_span(const struct activity_steps *steps, struct canvas *canvas,
			      size_t line);

/*
 * Paints how many threads were active over the last minutes, by their state, as far as they pass
 * the filters of this level: bars, and a line that tells the states and their averages in the
 * window. 0 or -ENOMEM.
 */
int screen_graph__paint(const struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines);

#endif /* DENET_TOP_SCREEN_GRAPH_H */
