/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_THREAD_H
#define DENET_TOP_SCREEN_THREAD_H

#include <stdio.h>

#include "screen/canvas.h"
#include "top/screen_state.h"

/*
 * Paints all columns of what passes the filters of this level, which is one thread: the texts that
 * each column had, and for which share of the time. 0 or -ENOMEM.
 */
int screen_thread__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			 size_t lines);

/* Writes the same as CSV. 0 or -ENOMEM. */
int screen_thread__write(const struct screen_state *state, FILE *out);

#endif /* DENET_TOP_SCREEN_THREAD_H */
