/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_WAIT_STATS_H
#define DENET_RECORD_WAIT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

struct machine;
struct sample;

/* If there are more names and calls than these, the result is not known. */
#define WAIT_STATS_ROWS 4096

/* Time of threads of one name in one system call. */
struct wait_stats_row {
	char comm[16];
	char call[32];            /* "": in none, or not known */
	uint64_t ns;              /* in any state, of threads that ran in the recording */
	uint64_t uninterruptible; /* ns in state D, without waits for a CPU behind it */
};

/* Waits of user threads by system call and by their names then. Zero-initialised is empty. */
struct wait_stats {
	struct buffer rows;       /* struct wait_stats_row */
	struct idmap places;      /* of name and call: the row's index + 1 */
	uint64_t uninterruptible; /* ns in state D, also without a row */
	bool full;                /* a row found no room */
};

/* The results. A row whose time is 0 means unknown. */
struct wait_stats_result {
	struct wait_stats_row most;                 /* of ns */
	struct wait_stats_row most_uninterruptible; /* of uninterruptible */
	uint64_t uninterruptible;                   /* ns in state D, of all rows and more */
};

/* Adds a sample of offcpu-time, whose thread the machine knows. 0 or -ENOMEM. */
int wait_stats__add(struct wait_stats *stats, const struct machine *machine,
		    const struct sample *sample);

/* The name and the call with the most time, in any state and in state D, unless full. */
struct wait_stats_result wait_stats__end(struct wait_stats *stats);

void wait_stats__free(struct wait_stats *stats);

#endif /* DENET_RECORD_WAIT_STATS_H */
