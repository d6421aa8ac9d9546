/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_OPTIONS_H
#define DENET_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/rotation.h"
#include "session/session.h"

/* Options of a recorder. builtin/record_options.c fills them in from the command line. */
struct recorder_options {
	struct session_options session;
	const char *output;             /* "-": the pipe variant on stdout */
	uint64_t window_ns;             /* how long short blocks are summed up */
	const char *tracepoints; /* SUBSYS:NAME, apart by commas; borrowed; NULL: none */
	bool one_event; /* all time as one event, its kind as a frame */
	bool raw_stacks; /* the copies of the capture go to the file as they are */
	bool no_build_ids;
	bool fill_cache; /* copy the files that were hit to ~/.debug */
	uint32_t max_overhead_ppm; /* 0: no limit */
	uint32_t max_rate;	   /* samples a second, 0: no limit */
	bool tell_rates; /* write an event for each change of the sampling */
	uint64_t max_size;         /* of a file in bytes, 0: no limit */
	struct rotation_options rotation;
	int argc;             /* for the file: our command line */
	const char *const *argv;
};

#endif /* DENET_RECORD_OPTIONS_H */
