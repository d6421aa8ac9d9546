/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CPU_TIME_H
#define DENET_CPU_TIME_H

#include <stdint.h>
#include <sys/resource.h>

/*
 * CPU time of RUSAGE_SELF or RUSAGE_CHILDREN, as for getrusage(2), in user and kernel mode, in ns;
 * 0 if it cannot be read. Children are those that were reaped.
 */
static inline uint64_t cpu_time__of(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

#endif /* DENET_CPU_TIME_H */
