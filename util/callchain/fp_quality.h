/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_FP_QUALITY_H
#define DENET_CALLCHAIN_FP_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"

/*
 * Whether a process has frame pointers, judged by its chains: those that end in garbage or after a
 * frame or two are broken. The state is one word (struct process: fp_quality), 0: nothing known.
 */

/*
 * Number of blocks for a decision; at least half of them must have broken chains. Any program has
 * short chains while it is being loaded.
 */
#define FP_QUALITY_ENOUGH 16
/* A whole chain has more frames than this. */
#define FP_QUALITY_SHORT 2

/*
 * Adds a chain along frame pointers, of so many blocks; kept: its frames that lie in code. True:
 * this chain decides that the process has no frame pointers.
 */
bool fp_quality__add(uint64_t *quality, const struct frames *user, size_t kept, uint64_t blocks);

/* True if it is decided that the process has no frame pointers. */
bool fp_quality__is_bad(uint64_t quality);

/* The state of a new child: its parent's decision. */
uint64_t fp_quality__of_child(uint64_t quality);

/*
 * True if a chain along frame pointers surely ended early; kept as above. A thread that waits in a
 * library right below its first function has two frames where libraries have no frame pointers.
 */
bool fp_quality__is_cut(const struct frames *user, size_t kept);

/* Number of names with statistics of their own. */
#define FP_STATS_NAMES 64

/* Processes of one name. */
struct fp_program {
	char comm[16];
	pid_t pid;              /* the latest process with a broken chain; 0: none */
	bool others;            /* several processes had one */
	bool by_tables;         /* the chains ended early by unwind tables, not by frame pointers */
	uint64_t ns, broken_ns; /* in blocks with a chain, and of it, with a broken one */
};

/* Programs whose chains end early, over a whole recording. */
struct fp_stats {
	struct fp_program programs[FP_STATS_NAMES];
	size_t nr;
	uint64_t ns; /* of all */
};

/* Adds a chain of ns of a process of that name. Returns its program; NULL: no room for the name. */
struct fp_program *fp_stats__add(struct fp_stats *stats, const char *comm, pid_t pid, bool broken,
				 uint64_t ns);

/*
 * The program with the most time in broken chains, if that is half of its own time and a tenth of
 * all time; NULL: none.
 */
const struct fp_program *fp_stats__worst(const struct fp_stats *stats);

#endif /* DENET_CALLCHAIN_FP_QUALITY_H */
