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
	bool hist; /* no recording: how long blocks are */
	bool json;
	const char *flamegraph; /* a page that is made of the recording; NULL: none is */
};

/*
 * Fills in what the options of a command line say, and checks them; a usage error ends the
 * process, and so does what is printed instead of a recording. What argv holds is borrowed.
 * 0 or a negative errno.
 */
int record__parse(struct record *record, int argc, char **argv);

#endif /* DENET_BUILTIN_RECORD_H */
