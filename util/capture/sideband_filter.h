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
 * The kernel's side band comes for all processes of a CPU; this lets through what belongs to the
 * recording and says something new, and has the machine follow it. One event for each thread
 * instead would explode the descriptors. Of the processes in the machine, all but those that are
 * marked as left out belong to the recording.
 */
struct sideband_filter {
	struct machine *machine;
	pid_t own;
	bool all;	      /* every process but own and what it forks from now on */
	bool no_inherit;      /* children do not belong to the recording */
	bool keep_known;      /* lets mappings through that are known already */
	uint64_t nr_senseless; /* records that made no sense, and were left out */
	uint64_t nr_flooded;  /* records that came too fast, and were left out */
	uint64_t told;	      /* by all processes, in names, less what has been forgotten since */
	uint64_t told_until;  /* when that was */
};

/*
 * What a process may tell of its mappings and names in a second; of more the machine knows, but
 * the file does not: a loop of mprotect(2) would fill it at 30 MB a second. For each second in
 * which it tells more, the next ones have a quarter of that, down to the least, and its children
 * begin with that; each second in which it doesn't takes one such step back.
 */
#define SIDEBAND_FILTER_MAX_RATE 8192
#define SIDEBAND_FILTER_LEAST_RATE 64
/*
 * What all processes may tell in a second, and eight seconds' worth at once, for hundreds that
 * start together; beyond that, each has the least. Executable mappings are told only: a compiler
 * has ten.
 */
#define SIDEBAND_FILTER_TOTAL_RATE 16384
#define SIDEBAND_FILTER_BURST (8 * SIDEBAND_FILTER_TOTAL_RATE)
/* A process may have ten thousands of threads, each of which gets its name in the same second. */
#define SIDEBAND_FILTER_NAMES_PER_MAP 16

/* Marks own as left out, with all. machine is borrowed. 0 or -ENOMEM. */
int sideband_filter__init(struct sideband_filter *filter, struct machine *machine, pid_t own,
			  bool all);

/*
 * Takes the mark off an MMAP2 record that says that there is a build-id in it. The capture never
 * asks for build-ids, but where the event of another recorder does, the kernel may mark our
 * record as well, in which device and inode stand.
 */
void sideband_filter__unmark(void *record);

/*
 * A record of the kernel, in the order of time. 1 and the event if it is to be passed on, 0 if
 * not, -ENOMEM. One that makes no sense is left out, which is said once.
 */
int sideband_filter__take(struct sideband_filter *filter, const void *record, size_t size,
			  struct task_event *event);

#endif /* DENET_CAPTURE_SIDEBAND_FILTER_H */
