/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_TRACEPOINT_RINGS_H
#define DENET_CAPTURE_TRACEPOINT_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Rings of tracepoints, one for each CPU that is online, apart from those of the programs: a storm
 * of tracepoints loses no blocks, and what is lost here is known.
 */
struct tracepoint_rings;
struct cgroup_dirs; /* host/cgroup.h */

struct tracepoint_rings_options {
	const uint16_t *ids; /* of the tracepoints */
	size_t nr;
	uint32_t pages; /* of each ring, a power of two; fewer where they may not be locked */
	bool cgroups;	/* hits have their cgroup */
	struct cgroup_dirs *groups; /* only hits of their tasks; taken over, empty afterwards */
};

/* A hit of a tracepoint, valid while it is handed over. */
struct tracepoint_hit {
	uint64_t time; /* CLOCK_MONOTONIC */
	uint64_t cgroup; /* 0 unless asked for */
	pid_t pid; /* 0, or -1: no task of ours, or none of our PID namespace */
	pid_t tid;
	uint32_t cpu;
	uint16_t id;   /* of the tracepoint */
	const void *data;
	uint32_t size; /* of the data */
};

/*
 * A hit from a record of the rings. 0; -EINVAL if it is none, or cut. cgroups: as the rings were
 * made.
 */
int tracepoint_hit__decode(const void *record, size_t size, bool cgroups,
			   struct tracepoint_hit *hit);

/* Receives each record of a sample and its time. 0 or a negative errno. */
typedef int (*tracepoint_rings_fn)(void *ctx, const void *record, size_t size, uint64_t time);

/* Opens the tracepoints, disabled. NULL on error: *err is set, the cause logged. */
struct tracepoint_rings *tracepoint_rings__new(const struct tracepoint_rings_options *options,
					       int *err);
void tracepoint_rings__delete(struct tracepoint_rings *rings); /* accepts NULL */

/* Switches them on. 0 or a negative errno (logged). */
int tracepoint_rings__enable(struct tracepoint_rings *rings);

/*
 * A CPU has come online, perhaps not for the first time. Accepts NULL. Where it cannot have a ring
 * that is logged, and the recording goes on.
 */
void tracepoint_rings__add_cpu(struct tracepoint_rings *rings, unsigned int cpu);

/* Reads all that is there. The number of records or a negative errno. Accepts NULL. */
int tracepoint_rings__read(struct tracepoint_rings *rings, tracepoint_rings_fn fn, void *ctx);

/* Is readable when a ring is half full. Also when other is, a descriptor that it adds; -1: none. */
int tracepoint_rings__watch(struct tracepoint_rings *rings, int other);

/* Hits that the rings had no room for, as far as they have told. Accepts NULL. */
uint64_t tracepoint_rings__lost(const struct tracepoint_rings *rings);

#endif /* DENET_CAPTURE_TRACEPOINT_RINGS_H */
