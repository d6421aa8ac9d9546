/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_BPF_STATS_H
#define DENET_BPF_BPF_STATS_H

#include <stdint.h>

struct bpf_object;
struct bpf_program;

#define BPF_STATS_CALLS 4
#define BPF_STATS_REQUESTS 2

/*
 * Programs whose misses are counted apart from those at switches. A miss at exec costs nothing: the
 * program only prepares for later events.
 */
struct bpf_stats_roles {
	const struct bpf_program *waking, *born, *gone, *exec;
	/* At entries and returns of system calls. */
	const struct bpf_program *calls[BPF_STATS_CALLS];
	/* At the issue and the completion of requests of block devices. */
	const struct bpf_program *requests[BPF_STATS_REQUESTS];
};

/*
 * The kernel's statistics of the programs: run time, memory, and missed runs. Where tracepoints
 * are preemptible (Linux 7), a second fork, exit or system call on a CPU during the first is
 * missed.
 */
struct bpf_stats {
	uint64_t recursion_misses; /* of all but the roles */
	uint64_t missed_wakeups;
	uint64_t missed_births;
	uint64_t missed_deaths;
	uint64_t missed_calls; /* entries and returns */
	uint64_t missed_requests; /* issues and completions */
	uint64_t run_ns; /* while it was measured */
	uint64_t run_count;
	uint64_t map_bytes;
};

/* Reads all but map_bytes, which take longer. 0 or a negative errno. */
int bpf_stats__read(struct bpf_stats *bpf_stats, const struct bpf_object *object,
		 const struct bpf_stats_roles *roles);

/* Reads map_bytes. */
void bpf_stats__read_maps(struct bpf_stats *bpf_stats, const struct bpf_object *object);

#endif /* DENET_BPF_BPF_STATS_H */
