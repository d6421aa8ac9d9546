/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_UPKEEP_H
#define DENET_CAPTURE_UPKEEP_H

#include <stdint.h>

struct bpf_object;
struct bpf_program;

/* What the kernel says of the programs: what they take, and what they missed. */
struct upkeep {
	uint64_t recursion_misses; /* of all but the two below */
	uint64_t missed_wakeups;
	/* Two forks can meet on a CPU where tracepoints are preemptible. */
	uint64_t missed_births;
	uint64_t run_ns; /* while it was measured */
	uint64_t run_count;
	uint64_t map_bytes;
};

/*
 * Reads all but map_bytes, which are dearer to ask. waking and born are the programs that see
 * wake-ups and births. 0 or a negative errno.
 */
int upkeep__read(struct upkeep *upkeep, const struct bpf_object *object,
		 const struct bpf_program *waking, const struct bpf_program *born);

/* Reads map_bytes. */
void upkeep__read_maps(struct upkeep *upkeep, const struct bpf_object *object);

#endif /* DENET_CAPTURE_UPKEEP_H */
