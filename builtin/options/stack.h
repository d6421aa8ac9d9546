/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_STACK_H
#define DENET_BUILTIN_OPTIONS_STACK_H

#include "builtin/options/table.h"

/* How stacks are walked. Both fill in a struct capture_stacks (capture/options.h). */
extern const struct option_table walk_table;  /* when, and which frames are cut */
extern const struct option_table stack_table; /* how, which sides, and how many frames */

#endif /* DENET_BUILTIN_OPTIONS_STACK_H */
