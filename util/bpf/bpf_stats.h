/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_BPF_STATS_H
#define DENET_BPF_BPF_STATS_H

#include <stdint.h>

struct bpf_object;
struct bpf_program;

/* The programs whose events are no switches. */
struct bpf_stats_roles {
	const struct bpf_program *waking, *born, *gone;
};

/*
 * What the kernel says of the programs: what they take, and what they missed. Where tracepoints
 * are preemptible (Linux 7), two forks or two exits can meet on a CPU, and the second is missed.
 */
struct bpf_stats {
	uint64_t recursion_misses; /* of all but the three below */
	uint64_t missed_wakeups;
	uint64_t missed_births;
	uint64_t missed_deaths;
	uint64_t run_ns; /* while it was measured */
	uint64_t run_count;
	uint64_t map_bytes;
};

/* Reads all but map_bytes, which are dearer to ask. 0 or a negative errno. */
int bpf_stats__read(struct bpf_stats *bpf_stats, const struct bpf_object *object,
		 const struct bpf_stats_roles *roles);

/* Reads map_bytes. */
void bpf_stats__read_maps(struct bpf_stats *bpf_stats, const struct bpf_object *object);

#endif /* DENET_BPF_BPF_STATS_H */
