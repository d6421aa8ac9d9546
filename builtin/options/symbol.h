/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_SYMBOL_H
#define DENET_BUILTIN_OPTIONS_SYMBOL_H

#include "builtin/options/table.h"
#include "symbol/symbols.h"

/* How functions are named: fills in a struct symbols_options (symbol/symbols.h). */
extern const struct option_table symbol_table;

#endif /* DENET_BUILTIN_OPTIONS_SYMBOL_H */
