/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_CHOICES_H
#define DENET_TOP_SCREEN_CHOICES_H

#include "top/screen_state.h"

/* Opens a menu of what can be chosen here. */
void screen_choices__open(struct screen_state *state, enum screen_menu kind);

/* Does what was chosen in the menu that is open, and closes it. 0 or -ENOMEM. */
int screen_choices__apply(struct screen_state *state);

/* "5 min", "all": the length of the window in words. Returns buf. */
char *screen_choices__put_window(uint64_t window_ns, char *buf, size_t size);

#endif /* DENET_TOP_SCREEN_CHOICES_H */
