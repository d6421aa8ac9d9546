/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_OPTIONS_H
#define DENET_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/rotation.h"
#include "session/session.h"

/* What a recorder is asked for. The command line fills it in, in builtin/record_options.c. */
struct recorder_options {
	struct session_options session;
	const char *output;             /* "-": the pipe variant on stdout */
	uint64_t window_ns;             /* how long short blocks accumulate */
	const char *tracepoints; /* SUBSYS:NAME, apart by commas; borrowed; NULL: none */
	bool one_event; /* all time as one event, its kind as a frame */
	bool raw_stacks; /* the copies of the capture go to the file as they are */
	bool no_build_ids;
	bool fill_cache; /* copy what was hit to ~/.debug */
	uint32_t max_overhead_ppm; /* 0: whatever it costs */
	uint32_t max_rate;	   /* samples a second, 0: as many as there are */
	bool tell_rates; /* the file has an event for each change of what is sampled */
	uint64_t max_size;         /* of a file in bytes, 0: no limit */
	struct rotation_options rotation;
	int argc;             /* for the file: how we were called */
	const char *const *argv;
};

#endif /* DENET_RECORD_OPTIONS_H */
