/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_STACKS_H
#define DENET_TOP_SCREEN_STACKS_H

#include "screen/canvas.h"
#include "top/screen_state.h"

/*
 * Paints pairs of stacks as rows, and below them the frames of the pair that is chosen, side by
 * side. 0 or -ENOMEM.
 */
int screen_stacks__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			 size_t lines);

#endif /* DENET_TOP_SCREEN_STACKS_H */
