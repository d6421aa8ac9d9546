/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that write a profile for other programs. */
#include "builtin/options/output_files.h"

#include <string.h>

#include "builtin/options/values.h"

static const struct option_row rows[] = {
	{ "flamegraph", .arg = "FILE", .text = "Write a flame graph, a page for browsers",
	  OPTION_TEXT(struct output_files, flamegraph) },
	{ "diff", .arg = "OTHER", .text = "In the flame graph, compare with the recording OTHER",
	  OPTION_TEXT(struct output_files, diff) },
	{ "json", .text = "Print all as JSON", OPTION_TRUE(struct output_files, json) },
	{ "pprof", .arg = "FILE", .text = "Write a profile for pprof",
	  OPTION_TEXT(struct output_files, pprof) },
	{ "speedscope", .arg = "FILE", .text = "Write a profile for speedscope.app",
	  OPTION_TEXT(struct output_files, speedscope) },
};

void output_files__check(const struct options *options, const struct output_files *files,
			 const char *option, const char *text)
{
	const struct {
		const char *option, *path;
	} all[] = {
		{ option, text },
		{ "flamegraph", files->flamegraph },
		{ "pprof", files->pprof },
		{ "speedscope", files->speedscope },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (size_t j = 0; all[i].path && j < i; j++) {
			if (!all[j].path || strcmp(all[i].path, all[j].path))
				continue;
			options__error(options, "--%s and --%s both write %s", all[j].option,
				       all[i].option, strcmp(all[i].path, "-") ? all[i].path :
							      "to standard output");
		}
	}
	if (files->diff && !files->flamegraph)
		options__error(options, "--diff needs --flamegraph");
}

const struct option_table output_files_table = { .group = 4, OPTION_ROWS(rows) };
