/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_SIDEBAND_FILTER_H
#define DENET_CAPTURE_SIDEBAND_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The kernel's side band comes for all processes of a CPU; this lets through what belongs
 * to the recording. One event for each thread instead would explode the descriptors.
 */
struct sideband_filter;

/* all: every process but own and what it forks from now on. */
struct sideband_filter *sideband_filter__new(bool all, bool no_inherit, pid_t own);
void sideband_filter__delete(struct sideband_filter *sideband); /* accepts NULL */

/* A thread of a process that is in the recording from the start. 0 or -ENOMEM. */
int sideband_filter__add(struct sideband_filter *sideband, pid_t pid, pid_t tid);

/* How many processes are known: in the recording, or with all those left out. */
size_t sideband_filter__count(const struct sideband_filter *sideband);

/* The time in the sample_id of a record. 0, or -EINVAL if it is too short to have one. */
int sideband_filter__time(const void *event, size_t size, uint64_t *time);

/*
 * Takes the mark off an MMAP2 record that says that there is a build-id in it. The capture never
 * asks for build-ids, but where the event of another recorder does, the kernel may mark our
 * record as well, in which device and inode stand.
 */
void sideband_filter__unmark(void *event);

/*
 * Whether a record of the kernel (MMAP, MMAP2, COMM, FORK, EXIT) belongs in. Learns from FORK
 * and EXIT. 1, 0, -EINVAL for a record too short to tell or of another type, -ENOMEM. *time
 * receives the time in its sample_id, 0 if there is none.
 */
int sideband_filter__wants(struct sideband_filter *sideband, const void *event, size_t size,
			   uint64_t *time);

#endif /* DENET_CAPTURE_SIDEBAND_FILTER_H */
