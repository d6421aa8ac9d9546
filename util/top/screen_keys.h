/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_KEYS_H
#define DENET_TOP_SCREEN_KEYS_H

#include "top/screen_state.h"

/* Changes the state by a key (screen/keys.h). 0 or -ENOMEM. */
int screen_keys__take(struct screen_state *state, int key);

#endif /* DENET_TOP_SCREEN_KEYS_H */
