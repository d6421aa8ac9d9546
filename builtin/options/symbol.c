/* SPDX-License-Identifier: GPL-2.0-only */
#include "builtin/options/symbol.h"

#include "builtin/options/values.h"

static const struct option_row rows[] = {
	{ "no-demangle", .text = "Leave symbols of C++ and Rust as they are",
	  OPTION_TRUE(struct symbols_options, no_demangle) },
	{ "inline", .text = "Show functions that the compiler put into others (debug information)",
	  OPTION_TRUE(struct symbols_options, inlines) },
	{ "srcline", .text = "Show file and line of the source behind names",
	  OPTION_TRUE(struct symbols_options, lines) },
};

const struct option_table symbol_table = { .group = 3, OPTION_ROWS(rows) };
