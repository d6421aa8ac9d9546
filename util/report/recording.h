/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_RECORDING_H
#define DENET_REPORT_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "input/input.h"
#include "profile/profile.h"
#include "report/locks.h"
#include "symbol/symbols.h"

/* A file, read whole: its samples added up, with the names of their frames. */
struct recording {
	const char *path;
	struct input *input;
	struct machine *machine;
	struct symbols *symbols;
	struct profile *profile;
	struct locks locks; /* sorted */
	bool has_reasons;
	uint64_t unmet_ns; /* running time that no sample met, and that so has no frames */
};

/*
 * Opens a file, "-" for standard input, reads it, and finds its names. Everything is borrowed.
 * 0 or a negative errno, logged; recording__close() in either case.
 */
int recording__read(struct recording *recording, const char *path,
		    const struct symbols_options *symbols, const struct profile_filter *filter);

/* Accepts one that is zero-initialised. */
void recording__close(struct recording *recording);

#endif /* DENET_REPORT_RECORDING_H */
