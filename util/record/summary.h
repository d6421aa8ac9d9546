/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SUMMARY_H
#define DENET_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

/* What a finished recording comes to. */
struct summary {
	struct capture_stats stats;
	enum capture_way way;
	uint64_t ns; /* off the CPU, in all samples of offcpu-time */
	uint64_t samples;
	uint64_t still_blocked;    /* of these: threads that had not come back */
	struct capture_tally idle; /* samples of offcpu-idle: threads that never ran */
	uint64_t bytes;
	uint64_t raised_min_ns; /* --min-block as --max-overhead left it, 0: not raised */
	bool rotated;           /* path has time stamps behind it */
	const char *path;       /* "-": a pipe */
};

/* Blocks that were seen and are in no sample, for whatever reason but a filter. */
uint64_t summary__lost(const struct capture_stats *stats);

/* The last line, in perf's manner, without a newline. Returns buf. */
char *summary__format(const struct summary *summary, char *buf, size_t size);

/* Says on stderr what was lost, with -v all accounts, and unless quiet the last line. */
void summary__print(const struct summary *summary);

#endif /* DENET_RECORD_SUMMARY_H */
