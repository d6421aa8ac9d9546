/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_COST_H
#define DENET_CAPTURE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What capture__cost() compares with; a part of the capture. */
struct cost {
	int stats_fd; /* keeps the kernel's statistics on; -1: off */
	bool known;   /* the rest was filled in */
	uint64_t run_ns;
	uint64_t kept;
	uint64_t *seen; /* for each possible CPU, then as many for the next reading */
	size_t nr_cpus;
};

void cost__init(struct cost *cost);
void cost__free(struct cost *cost);

#endif /* DENET_CAPTURE_COST_H */
