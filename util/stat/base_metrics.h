/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_BASE_METRICS_H
#define DENET_STAT_BASE_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "stat/proc_metrics.h"
#include "stat/stat_data.h"

/*
 * What the processes of the targets use of the machine, as the table shows it. Zero-initialised, is
 * of no processes.
 */
struct base_metrics {
	/* Counters up to the last sample; memory and threads are of the last one with memory. */
	struct proc_metrics_row sum;
	unsigned int processes;
	uint64_t peak_kb; /* the greatest memory that is known; 0: none is */
	struct memory_pressure pressure;
};

/* Takes the sums of a sample. */
void base_metrics__take(struct base_metrics *base, const struct proc_metrics_sample *sample);

/*
 * The same of those processes only that data has, for filters that /proc does not know. Counters
 * are those of processes that live; CPU time is that of data.
 */
void base_metrics__take_known(struct base_metrics *base, const struct proc_metrics_sample *sample,
			      const struct stat_data *data);

/* Another source knows of a time when a process had so much memory. */
void base_metrics__raise_peak(struct base_metrics *base, uint64_t kb);

/*
 * Prints a few lines of at most width columns (0: 80): memory, threads and uptime of now, and
 * counters since before, which were read ns earlier.
 */
void base_metrics__print(const struct base_metrics *now, const struct base_metrics *before,
			 uint64_t ns, size_t width, FILE *out);

#endif /* DENET_STAT_BASE_METRICS_H */
