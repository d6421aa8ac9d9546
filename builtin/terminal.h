/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_TERMINAL_H
#define DENET_BUILTIN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether standard output takes colours: it is a terminal, and neither NO_COLOR
 * (https://no-color.org: any value but the empty one) nor TERM=dumb is in the environment.
 */
bool terminal__wants_colours(void);

/* Columns of the terminal that standard output is; 0: it is none, or does not tell. */
size_t terminal__width(void);

/* Lines of it; 0 as above. */
size_t terminal__height(void);

#endif /* DENET_BUILTIN_TERMINAL_H */
