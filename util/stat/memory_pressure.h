/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_MEMORY_PRESSURE_H
#define DENET_STAT_MEMORY_PRESSURE_H

#include <stdint.h>
#include <sys/types.h>

enum memory_pressure_scope { MEMORY_PRESSURE_NONE, MEMORY_PRESSURE_CGROUP, MEMORY_PRESSURE_SYSTEM };

/* Time in which tasks waited for memory, as the kernel's pressure stall information has it. */
struct memory_pressure {
	enum memory_pressure_scope scope; /* MEMORY_PRESSURE_NONE: the kernel has none */
	double some_avg10;                /* % of the last 10 s in which a task waited */
	double full_avg10;                /* all tasks did */
	uint64_t some_us;                 /* since memory_pressure__begin() */
	uint64_t full_us;
};

/* Where it is read; as long as a measurement. */
struct memory_pressure_source {
	char path[512];
	enum memory_pressure_scope scope;
	uint64_t some_us; /* the totals to start from */
	uint64_t full_us;
};

/* Finds the file of the process's cgroup (v2), else that of the system, and takes its totals. */
void memory_pressure__begin(struct memory_pressure_source *source, pid_t pid);

/* The state of now; the system's, counted anew, where the cgroup has been removed. */
struct memory_pressure memory_pressure__read(struct memory_pressure_source *source);

#endif /* DENET_STAT_MEMORY_PRESSURE_H */
