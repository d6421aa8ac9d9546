/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that write a profile for other programs. */
#include "builtin/options/output_files.h"

#include "builtin/options/values.h"
#include "output/files/files.h"

static const struct option_row rows[] = {
	{ "flamegraph", .arg = "FILE", .text = "Write a flame graph, a page for browsers",
	  OPTION_TEXT(struct output_files, flamegraph) },
	{ "json", .text = "Print all as JSON", OPTION_TRUE(struct output_files, json) },
	{ "pprof", .arg = "FILE", .text = "Write a profile for pprof",
	  OPTION_TEXT(struct output_files, pprof) },
	{ "speedscope", .arg = "FILE", .text = "Write a profile for speedscope.app",
	  OPTION_TEXT(struct output_files, speedscope) },
};

const struct option_table output_files_table = { .group = 4, OPTION_ROWS(rows) };
