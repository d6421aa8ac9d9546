/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HIST_DURATION_HIST_H
#define DENET_HIST_DURATION_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/hist.h"

/* Assumed size of a sample in bytes, and the number of frames that it has then. */
#define DURATION_HIST_SAMPLE_BYTES 160
#define DURATION_HIST_SAMPLE_FRAMES 10

/* Lengths of the blocks of one watch. */
struct duration_hist {
	uint64_t duration_ns;
	struct capture_hist ended;
	/* Blocks cut at the end; not in ended, since no threshold changes them. */
	struct capture_tally still_blocked[CAPTURE_HIST_BUCKETS];
	struct capture_tally never_ran; /* of these: blocked since before the beginning */
	uint64_t lost; /* switches and births that were not seen, blocks without room */
};

/* A recording of the same blocks with this threshold. */
struct threshold {
	uint64_t ns;
	struct capture_tally direct; /* blocks that are samples of their own */
	struct capture_tally summed; /* shorter blocks, which are added up */
	double samples_per_second;   /* direct ones */
	double bytes_per_minute;     /* of these */
};

#define DURATION_HIST_THRESHOLDS CAPTURE_HIST_BUCKETS

/* Adds a thread that is still blocked at the end. */
void duration_hist__add_blocked(struct duration_hist *hist, uint64_t ns, bool never_ran);

/*
 * Fills in a row for threshold 0, one for each bound at which fewer blocks are direct, and one
 * for the default, ascending. Exact, as the bounds of the buckets are. Returns their number.
 */
size_t duration_hist__thresholds(const struct duration_hist *hist,
				 struct threshold rows[DURATION_HIST_THRESHOLDS]);

/* The smallest threshold with fewer direct samples a second; NULL: no row has fewer. */
const struct threshold *duration_hist__suggest(const struct threshold *rows, size_t nr,
					       double samples_per_second);

/*
 * Prints the histogram of each state seen, the table of thresholds and, unless quiet, advice on how
 * to choose one: at most 80 columns. 0, or a negative errno if out failed.
 */
int duration_hist__print(const struct duration_hist *hist, bool quiet, FILE *out);

/* The same as JSON, without the advice. 0, or a negative errno if out failed. */
int duration_hist__print_json(const struct duration_hist *hist, FILE *out);

#endif /* DENET_HIST_DURATION_HIST_H */
