/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_RECORDER_H
#define DENET_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/rotation.h"

struct recorder_options {
	struct capture_options capture; /* no target and not all: COMMAND is the target */
	const char *output;             /* "-": the pipe variant on stdout */
	uint64_t window_ns;             /* how long short blocks accumulate */
	uint64_t delay_ns;              /* COMMAND runs for so long before blocks count */
	bool raw_stacks; /* the copies of capture.copy_bytes go to the file as they are */
	bool no_build_ids;
	bool fill_cache; /* copy what was hit to ~/.debug */
	uint32_t max_overhead_ppm; /* 0: whatever it costs */
	uint32_t max_rate;	   /* samples a second, 0: as many as there are */
	uint64_t max_size;         /* of a file in bytes, 0: no limit */
	struct rotation_options rotation;
	bool quiet;
	char *const *command; /* NULL-terminated; NULL: none */
	int argc;             /* for the file: how we were called */
	const char *const *argv;
};

/*
 * Makes a recording, from the checked options to the last line. Everything in options is
 * borrowed. 0, or a negative errno (logged); *status is then what the process should exit
 * with: the status of COMMAND if it is what was recorded or if it ended by itself, else 0.
 */
int recorder__run(const struct recorder_options *options, int *status);

#endif /* DENET_RECORD_RECORDER_H */
