/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_RECORD_H
#define DENET_BUILTIN_RECORD_H

#include <stdbool.h>

#include "builtin/options/common.h"
#include "builtin/options/filter.h"
#include "builtin/options/on_cpu.h"
#include "builtin/options/target.h"
#include "record/recorder.h"

/* The values of denet-record's options. */
struct record {
	struct recorder_options recorder; /* with the session and its capture */
	struct target_options target;
	struct filter_options filter;
	struct on_cpu_options on_cpu;
	struct common_options common;
	bool hist; /* no recording: a histogram of the lengths of blocks */
	bool json;
	const char *flamegraph; /* an HTML page made from the recording; NULL: none */
};

/*
 * Parses and checks a command line; a usage error ends the process, and so do -h and other options
 * that print instead of recording. Strings of argv are borrowed. 0 or a negative errno.
 */
int record__parse(struct record *record, int argc, char **argv);

#endif /* DENET_BUILTIN_RECORD_H */
