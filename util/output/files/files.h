/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_FILES_H
#define DENET_OUTPUT_FILES_H

#include <stdbool.h>

#include "output/flamegraph/flamegraph.h"
#include "profile/profile.h"

/* Outputs for other programs: names of files, of which "-" is standard output; NULL: not wanted. */
struct output_files {
	bool json; /* in place of text; the caller writes it, where that would go */
	const char *flamegraph;
	const char *diff; /* a recording that the flame graph compares with, or NULL */
	const char *pprof;
	const char *speedscope;
};

/* Whether any file is wanted. */
bool output_files__any(const struct output_files *files);

/*
 * Writes the files that are wanted. other, for the flame graph, may be NULL. 0 or a negative errno,
 * logged.
 */
int output_files__write(const struct output_files *files, const struct profile *profile,
			const struct flamegraph_other *other);

#endif /* DENET_OUTPUT_FILES_H */
