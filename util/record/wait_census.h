/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_WAIT_CENSUS_H
#define DENET_RECORD_WAIT_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

struct machine;
struct sample;

/* With more threads and calls than these, nothing is known. */
#define WAIT_CENSUS_ROWS 4096

/* Time of threads of one name in one system call. */
struct wait_census_row {
	char comm[16];
	char call[32];
	uint64_t ns; /* 0: nothing is known */
};

/*
 * In which system calls threads that ran in the recording waited, by thread. Zero-initialised is
 * empty.
 */
struct wait_census {
	struct buffer rows; /* struct wait_census_row, each of one thread */
	struct idmap places; /* of thread and call: the row's index + 1 */
	bool full;	     /* a row found no room */
};

/* A sample of offcpu-time; machine knows its thread. 0 or -ENOMEM. */
int wait_census__add(struct wait_census *census, const struct machine *machine,
		     const struct sample *sample);

/*
 * The name and the call with the most time; merges the rows of threads that have one
 * name. ns is 0 where there was no room for all.
 */
struct wait_census_row wait_census__most(struct wait_census *census);

void wait_census__free(struct wait_census *census);

#endif /* DENET_RECORD_WAIT_CENSUS_H */
