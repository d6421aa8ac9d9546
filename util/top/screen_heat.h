/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_HEAT_H
#define DENET_TOP_SCREEN_HEAT_H

#include <stddef.h>

#include "screen/canvas.h"
#include "top/screen_state.h"

/*
 * Paints a heat map in place of the graph: over the last minutes, how long the threads that were
 * active had been in their state, or call, a line for each power of ten. The more threads, the
 * darker. 0 or -ENOMEM.
 */
int screen_heat__paint(const struct screen_state *state, struct canvas *canvas, size_t line,
		       size_t lines);

#endif /* DENET_TOP_SCREEN_HEAT_H */
