/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_REPLAY_SCREEN_H
#define DENET_TOP_REPLAY_SCREEN_H

#include "top/screen.h"

/*
 * Shows samples that were recorded on the screen: of a file, or of all of a directory, which is the
 * source in the options. Returns at the user's wish, or with a signal. 0 or a negative errno
 * (logged).
 */
int replay_screen__run(const struct screen_options *options);

#endif /* DENET_TOP_REPLAY_SCREEN_H */
