/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_FP_QUALITY_H
#define DENET_CALLCHAIN_FP_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample.h"

/*
 * Whether a process has frame pointers, judged by its chains: those that end in garbage or after
 * a frame or two. What is known of one fits into a word (struct process: fp_quality), 0: nothing.
 */

/*
 * So many blocks decide; the chains of at least half of them must be broken. Those of a program
 * that is being loaded are short, whatever it is.
 */
#define FP_QUALITY_ENOUGH 16
/* A whole chain has more frames than this. */
#define FP_QUALITY_SHORT 2

/*
 * A chain along frame pointers, of so many blocks; kept: its frames that lie in code. True: with
 * this one it is decided that the process has no frame pointers.
 */
bool fp_quality__add(uint64_t *quality, const struct frames *user, size_t kept, uint64_t blocks);

/* Whether it was decided. */
bool fp_quality__is_bad(uint64_t quality);

/* What is known of a child: what was decided of its parent. */
uint64_t fp_quality__of_child(uint64_t quality);

/*
 * Whether a chain along frame pointers surely ended early; kept as above. A thread that waits in a
 * library right below its first function has two frames where libraries have no frame pointers.
 */
bool fp_quality__is_cut(const struct frames *user, size_t kept);

/* Further names are not told apart. */
#define FP_CENSUS_NAMES 64

/* Processes of one name. */
struct fp_program {
	char comm[16];
	pid_t pid;   /* the latest of them with a broken chain; 0: none */
	bool others; /* there were several such */
	bool by_tables; /* unwind tables led no further, not frame pointers */
	uint64_t ns, broken_ns; /* in blocks with a chain, and of it, with a broken one */
};

/* Programs whose chains end early, over a whole recording. */
struct fp_census {
	struct fp_program programs[FP_CENSUS_NAMES];
	size_t nr;
	uint64_t ns; /* of all */
};

/* A chain of so many ns of a process of that name. Returns its program; NULL: not told apart. */
struct fp_program *fp_census__add(struct fp_census *census, const char *comm, pid_t pid,
				  bool broken, uint64_t ns);

/*
 * The program with the most time in broken chains, if that is half of its own time and a tenth of
 * all time; NULL: there is none.
 */
const struct fp_program *fp_census__worst(const struct fp_census *census);

#endif /* DENET_CALLCHAIN_FP_QUALITY_H */
