/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_STACK_H
#define DENET_BUILTIN_OPTIONS_STACK_H

#include "builtin/options/table.h"

/* How stacks are walked. Both fill in a struct capture_stacks (capture/options.h). */
extern const struct option_table call_graph_table;
extern const struct option_table stack_table; /* which sides, and how many frames */

#endif /* DENET_BUILTIN_OPTIONS_STACK_H */
