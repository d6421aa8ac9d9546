/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_HIST_H
#define DENET_CAPTURE_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

/*
 * Lengths of blocks, by state. Each bucket begins at about twice the length of the one before, at a
 * number that people type: 0, then 1, 2, 4, 8, 16, 32, 64, 125, 250 and 500 us, ms and s, and 1000
 * s. Buckets hold counts and sums, so that figures for a threshold at such a bound are exact.
 */
#define CAPTURE_HIST_BUCKETS 32
#define CAPTURE_HIST_STATES 9

struct capture_hist_row {
	char state; /* as in struct sample; '\0': no block has this state */
	struct capture_tally buckets[CAPTURE_HIST_BUCKETS];
};

struct capture_hist {
	struct capture_hist_row rows[CAPTURE_HIST_STATES];
};

/* The shortest block of a bucket, in ns; UINT64_MAX behind the last one. */
uint64_t hist__bound(size_t bucket);

/* The bucket of a block. */
size_t hist__bucket(uint64_t ns);

/*
 * The blocks that have ended so far, of a capture that was made with options.histogram. 0 or a
 * negative errno.
 */
int capture__hist(const struct capture *capture, struct capture_hist *hist);

#endif /* DENET_CAPTURE_HIST_H */
