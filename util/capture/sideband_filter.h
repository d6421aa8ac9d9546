/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_SIDEBAND_FILTER_H
#define DENET_CAPTURE_SIDEBAND_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/task_event.h"

struct machine;

/*
 * The kernel's side band covers all processes of a CPU; this passes on records that belong to the
 * recording and are new, and has the machine follow them. One event for each thread instead would
 * take too many descriptors. All processes in the machine belong to the recording, but for those
 * marked as left out.
 */
struct sideband_filter {
	struct machine *machine;
	pid_t own;
	bool all;	      /* every process but own and its later children */
	bool no_inherit;      /* children do not belong to the recording */
	bool keep_known;      /* passes on mappings that are known already */
	uint64_t nr_senseless; /* invalid records, left out */
	uint64_t nr_flooded;  /* records that came too fast, and were left out */
	uint64_t told;	      /* names passed on for all processes, less those decayed since */
	uint64_t told_until;  /* time up to which told has decayed */
};

/*
 * Limit of the mappings of a process in a second, and the least limit; beyond it the machine learns
 * them, but the file does not: a loop of mprotect(2) would fill it at 30 MB a second. Each second
 * beyond the limit divides the next one's by four, down to the least, also for new children; each
 * second below it takes one such step back.
 */
#define SIDEBAND_FILTER_MAX_RATE 8192
#define SIDEBAND_FILTER_LEAST_RATE 64
/*
 * Limit of the mappings of all processes in a second, and a burst of eight seconds' worth, for
 * hundreds that start together; beyond that, each has the least. Mostly only executable mappings
 * come: a compiler has ten.
 */
#define SIDEBAND_FILTER_TOTAL_RATE 16384
#define SIDEBAND_FILTER_BURST (8 * SIDEBAND_FILTER_TOTAL_RATE)
/* Names that count as one mapping: a process may name ten thousands of threads in a second. */
#define SIDEBAND_FILTER_NAMES_PER_MAP 16

/* Marks own as left out, with all. machine is borrowed. 0 or -ENOMEM. */
int sideband_filter__init(struct sideband_filter *filter, struct machine *machine, pid_t own,
			  bool all);

/*
 * Clears the flag of an MMAP2 record that announces a build-id. The capture never requests
 * build-ids, but where another recorder's event does, the kernel may flag our record as well, which
 * holds device and inode.
 */
void sideband_filter__unmark(void *record);

/* Decodes a record of the kernel. False: it is invalid and dropped, with one warning for all. */
bool sideband_filter__decode(struct sideband_filter *filter, const void *record, size_t size,
			     struct task_event *event);

/* Takes an event, in the order of time. 1 if it is to be passed on, 0 if not, -ENOMEM. */
int sideband_filter__take(struct sideband_filter *filter, const struct task_event *event);

#endif /* DENET_CAPTURE_SIDEBAND_FILTER_H */
