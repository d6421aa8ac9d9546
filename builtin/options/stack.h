/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_STACK_H
#define DENET_BUILTIN_OPTIONS_STACK_H

#include "builtin/options/table.h"

/* How stacks are walked: fills in a struct capture_stacks (capture/options.h). */
extern const struct option_table stack_table;

#endif /* DENET_BUILTIN_OPTIONS_STACK_H */
