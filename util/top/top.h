/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_H
#define DENET_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "session/run.h"
#include "top/outputs.h"
#include "top/sampler.h"

/* Bounds of the time between two looks: 1,000 a second, 1 a minute. */
#define TOP_MIN_PERIOD_NS 1000000ULL
#define TOP_MAX_PERIOD_NS 60000000000ULL

/* Options of denet-top: the threads, how often they are looked at, and what becomes of that. */
struct top_options {
	struct session_options session; /* targets, COMMAND, the delay */
	struct sampler_options sampler;
	uint64_t period_ns;   /* between two looks */
	uint32_t max_overhead_ppm; /* limit of the cost, in millionths of a CPU; 0: none */
	uint64_t stack_every; /* looks, of which one takes stacks; 1: each does */
	uint64_t interval_ns; /* between two tables */
	uint64_t count;	      /* tables, or, where there are none, looks; 0: no limit */
	struct outputs_options outputs;
};

/*
 * Samples until COMMAND or all named targets have ended, or a signal comes. *status is what the
 * process should exit with. 0 or a negative errno, logged.
 */
int top__run(const struct top_options *options, int *status);

#endif /* DENET_TOP_H */
