/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_COLOURS_H
#define DENET_BUILTIN_COLOURS_H

#include <stdbool.h>

/*
 * Whether standard output takes colours: it is a terminal, and neither NO_COLOR
 * (https://no-color.org: any value but the empty one) nor TERM=dumb is in the environment.
 */
bool colours__wanted(void);

#endif /* DENET_BUILTIN_COLOURS_H */
