/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_INTERNAL_H
#define DENET_RECORD_INTERNAL_H

#include <stdint.h>

#include "record/output.h"
#include "record/options.h"
#include "session/findings.h"
#include "session/session.h"
#include "record/sink.h"
#include "session/rate_control.h"
#include "host/tracepoint.h"

/* Limits of the delay by other processes, at the start and at the end. */
#define RECORDER_DEADLINE_MS 2000
/* The same between two files or windows, while the rings are not read. */
#define RECORDER_SWITCH_MS 300

/* The parts of the recorder; each of them has its own file. */
struct recorder {
	const struct recorder_options *options; /* borrowed */
	struct session session;
	struct findings findings; /* messages for the end */
	struct output output;
	struct rate_control rate_control;
	struct sink sink;
	struct tracepoint_list tracepoints; /* of the kernel, recorded as well */
	struct machine *machine;
	uint64_t window_end; /* CLOCK_MONOTONIC */
	uint64_t rounds;     /* number of wake-ups of its loop */
	double sampled_for_cost; /* share of the time, known at the end */
};

/*
 * Makes and starts the parts in this order: COMMAND is forked and held, the capture starts,
 * existing processes go to the file, COMMAND is released. 0 or a negative errno (logged);
 * recorder__free() must follow in both cases.
 */
int recorder__start(struct recorder *recorder, const struct recorder_options *options);

/* Closes what is open and frees the parts, not the recorder. */
void recorder__free(struct recorder *recorder);

#endif /* DENET_RECORD_INTERNAL_H */
