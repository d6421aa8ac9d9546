/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_DRILL_H
#define DENET_TOP_SCREEN_DRILL_H

#include "top/screen_state.h"

/*
 * Goes into the row that is chosen: to the state, the name and the wait where these are not known
 * yet, then to what the wait is about, the stacks, the threads, one thread. What all samples have
 * nothing of is left out. 0 or -ENOMEM.
 */
int screen_drill__down(struct screen_state *state);

/* Goes back up to the row, where there is a level above. 0 or -ENOMEM. */
int screen_drill__up(struct screen_state *state);

/* Groups the level by other columns. */
void screen_drill__regroup(struct screen_state *state, const size_t *columns, size_t nr);

#endif /* DENET_TOP_SCREEN_DRILL_H */
