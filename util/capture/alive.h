/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_ALIVE_H
#define DENET_CAPTURE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/target_maps.h"

/*
 * The count of live targets, and the time to search for them if it does not change.
 * Zero-initialised is the start of a measurement.
 */
struct alive {
	int64_t count;
	uint64_t pause;
	uint64_t next;
	bool ended; /* none is alive, whatever the count */
	uint64_t strays_pause;
	uint64_t strays_next;
};

/*
 * Whether a target is alive. A death that the programs missed is noticed CAPTURE_RECOUNT_MS after
 * the last birth or death that they saw, or half a minute later if that was long ago.
 */
bool alive__any(struct alive *alive, const struct target_maps *target_maps);

/* Makes the state of targets whose births were missed, if some were. Never fails. */
void alive__adopt_strays(struct alive *alive, const struct target_maps *target_maps);

#endif /* DENET_CAPTURE_ALIVE_H */
