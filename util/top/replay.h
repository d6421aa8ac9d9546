/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_REPLAY_H
#define DENET_TOP_REPLAY_H

#include <stdint.h>
#include <stdio.h>

#include "top/batch.h"

struct replay_options {
	const char *path; /* a file of samples, a directory of such, or a perf.data file */
	const struct batch_options *batch;
	uint64_t interval_ns; /* of a table; 0: one of all */
	uint64_t count;	      /* tables at most; 0: all */
	FILE *out;	      /* of the tables */
};

/* Prints samples that were recorded as tables. 0 or a negative errno (logged). */
int replay__run(const struct replay_options *options);

#endif /* DENET_TOP_REPLAY_H */
