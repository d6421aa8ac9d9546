/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_HELP_H
#define DENET_TOP_SCREEN_HELP_H

#include "screen/canvas.h"
#include "top/screen_state.h"

/* Paints what the keys do. */
void screen_help__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines);

#endif /* DENET_TOP_SCREEN_HELP_H */
