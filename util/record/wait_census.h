/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_WAIT_CENSUS_H
#define DENET_RECORD_WAIT_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

struct machine;
struct sample;

/* If there are more names and calls than these, the result is not known. */
#define WAIT_CENSUS_ROWS 4096

/* Time of threads of one name in one system call. */
struct wait_census_row {
	char comm[16];
	char call[32];		  /* "": in none, or not known */
	uint64_t ns;		  /* in any state, of threads that ran in the recording */
	uint64_t uninterruptible; /* ns in state D, without waits for a CPU behind it */
};

/* Waits of user threads by system call and by their names then. Zero-initialised is empty. */
struct wait_census {
	struct buffer rows; /* struct wait_census_row */
	struct idmap places; /* of name and call: the row's index + 1 */
	uint64_t uninterruptible; /* ns in state D, also without a row */
	bool full;	     /* a row found no room */
};

/* Results of a census. A row whose time is 0 means unknown. */
struct wait_census_result {
	struct wait_census_row most;		     /* of ns */
	struct wait_census_row most_uninterruptible; /* of uninterruptible */
	uint64_t uninterruptible;		     /* ns in state D, of all rows and more */
};

/* Adds a sample of offcpu-time, whose thread the machine knows. 0 or -ENOMEM. */
int wait_census__add(struct wait_census *census, const struct machine *machine,
		     const struct sample *sample);

/* The name and the call with the most time, in any state and in state D, unless full. */
struct wait_census_result wait_census__end(struct wait_census *census);

void wait_census__free(struct wait_census *census);

#endif /* DENET_RECORD_WAIT_CENSUS_H */
