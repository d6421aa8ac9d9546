/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_WRITE_H
#define DENET_TOP_SCREEN_WRITE_H

#include "top/screen_state.h"

/*
 * Writes what is seen to a file that is not there yet: the rows as CSV, or a flame graph of the
 * samples behind them. Logs what became of it. 0 or a negative errno.
 */
int screen_write__file(const struct screen_state *state, enum screen_file kind, const char *path);

#endif /* DENET_TOP_SCREEN_WRITE_H */
