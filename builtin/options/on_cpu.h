/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_ON_CPU_H
#define DENET_BUILTIN_OPTIONS_ON_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "builtin/options/table.h"
#include "capture/options.h"

/* Options of on-CPU samples and of events: --wall, -F, -c and -e, the last three as in perf. */
struct on_cpu_options {
	bool wall;	     /* running, runnable and blocked time */
	uint64_t wall_freq;  /* of --wall=HZ; 0: not given */
	uint64_t freq;	     /* of -F; 0: not given */
	uint64_t count;	     /* of -c; 0: not given */
	enum capture_clock clock; /* of -e */
	char *tracepoints;   /* of -e: SUBSYS:NAME, apart by commas; NULL: none */
};

extern const struct option_table on_cpu_table; /* its values: struct on_cpu_options */

/* Completes the capture's options for on-CPU samples. */
void on_cpu_options__resolve(const struct on_cpu_options *options,
			     struct capture_options *capture);

void on_cpu_options__free(struct on_cpu_options *options);

#endif /* DENET_BUILTIN_OPTIONS_ON_CPU_H */
