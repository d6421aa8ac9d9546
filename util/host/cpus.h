/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_CPUS_H
#define DENET_HOST_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* A set of CPUs, one bit for each. Zero-initialised is empty. */
#define CPUS_MAX 8192

struct cpus {
	uint64_t bits[CPUS_MAX / 64];
};

/*
 * Adds the CPUs of a list such as "0-3,8" to cpus, as the kernel writes them. 0, -EINVAL if
 * it is no list or an empty one, -ERANGE if a number is no CPU or a range runs backwards.
 */
int cpus__parse(struct cpus *cpus, const char *text);

/* The CPUs that are online. 0 or a negative errno. */
int cpus__online(struct cpus *cpus);

/* Whether the CPU is in the set; no number from CPUS_MAX on is. */
bool cpus__has(const struct cpus *cpus, unsigned int cpu);

/* The first CPU of cpus that others lacks; -1: none. */
int cpus__first_missing(const struct cpus *cpus, const struct cpus *others);

/* Looks whether all are online. 0 or -ENODEV (logged, with the ones that are). */
int cpus__check(const struct cpus *cpus);

#endif /* DENET_HOST_CPUS_H */
