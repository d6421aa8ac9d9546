/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_TABLE_H
#define DENET_TOP_SCREEN_TABLE_H

#include "screen/canvas.h"
#include "top/screen_state.h"

/* Paints a heading and rows of the state, as many as fit into the lines. 0 or -ENOMEM. */
int screen_table__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines);

#endif /* DENET_TOP_SCREEN_TABLE_H */
