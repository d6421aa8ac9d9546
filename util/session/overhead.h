/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_OVERHEAD_H
#define DENET_SESSION_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

/*
 * --max-overhead: looks once a second what the recording costs, and goes over to sampling, in
 * steps, when that is more than was allowed. It never goes back, so that how coarse a file is
 * is told by its last event.
 *
 * The cost is the run time of the BPF programs on the busiest CPU, as a share of that CPU,
 * and the CPU time of this process and of its helpers as a share of all CPUs. Run time is
 * measured in one second of eight, and in each while it is more than half of what is
 * allowed or the number of blocks has doubled; in between it follows the number of blocks.
 */
struct overhead {
	struct capture *capture;
	uint32_t limit_ppm;
	uint64_t raised;   /* how often the period was raised */
	uint64_t next;     /* when to look, CLOCK_MONOTONIC */
	uint64_t previous; /* when it was looked */
	uint64_t own_ns;   /* CPU time of this process and of its helpers until then */
	uint64_t rate;     /* blocks a second when it was measured last */
	uint64_t block_ns; /* what one cost then */
	unsigned int nr_cpus;
	unsigned int pause; /* seconds until it is measured again */
	bool measuring;
	bool may_measure;
	bool gave_up; /* it was said that nothing more can be done */
};

/* What it costs, in millionths, and the period that is wanted. */
struct overhead_report {
	uint64_t period_ns;
	uint32_t bpf_ppm;
	uint32_t own_ppm;
	bool measured;
};

/* The capture has started. limit_ppm: millionths of a CPU, 0: never looks. */
void overhead__init(struct overhead *overhead, struct capture *capture, uint32_t limit_ppm);

/* When overhead__look() wants to be called, UINT64_MAX: never. */
uint64_t overhead__due(const struct overhead *overhead);

/*
 * Looks while a period (ns, 0: all blocks count) is in force. 1: it should be raised to
 * report->period_ns (said on stderr); 0: it may stay; or a negative errno.
 */
int overhead__look(struct overhead *overhead, uint64_t now, uint64_t period_ns,
		   struct overhead_report *report);

/* The next period after one that costs too much; the same if there is none. */
uint64_t overhead__next_period(uint64_t period_ns, uint64_t cost_ppm, uint64_t limit_ppm);

#endif /* DENET_SESSION_OVERHEAD_H */
