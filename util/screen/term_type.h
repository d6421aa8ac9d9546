/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_TERM_TYPE_H
#define DENET_SCREEN_TERM_TYPE_H

#include <stdbool.h>

/* Whether standard input and output are a terminal that tty__open() can take over. */
bool term_type__is_usable(void);

#endif /* DENET_SCREEN_TERM_TYPE_H */
