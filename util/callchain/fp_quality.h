/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_FP_QUALITY_H
#define DENET_CALLCHAIN_FP_QUALITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idmap.h"
#include "sample.h"

/*
 * Which processes have no frame pointers, judged by their chains: those that end in garbage or
 * after a frame or two. Zero-initialised is empty.
 */
struct fp_quality {
	struct idmap by_pid; /* chains seen, broken ones, and whether it is decided */
};

/*
 * So many blocks decide; the chains of at least half of them must be broken. Those of a program
 * that is being loaded are short, whatever it is.
 */
#define FP_QUALITY_ENOUGH 16
/* A whole chain has more frames than this. */
#define FP_QUALITY_SHORT 2

/*
 * A chain along frame pointers of a process, of so many blocks; kept: its frames that lie in
 * code. 1: with this one
 * it is decided that the process has no frame pointers; 0: not so, or it was before; -ENOMEM.
 */
int fp_quality__add(struct fp_quality *fp_quality, pid_t pid, const struct frames *user,
		    size_t kept, uint64_t blocks);

/* Whether it was decided. */
bool fp_quality__decided(const struct fp_quality *fp_quality, pid_t pid);

/* The process is a copy of its parent. True: what was decided of that is true of it. */
bool fp_quality__fork(struct fp_quality *fp_quality, pid_t pid, pid_t parent);

/* It is another program now, or none. True: something had been decided. */
bool fp_quality__forget(struct fp_quality *fp_quality, pid_t pid);

void fp_quality__free(struct fp_quality *fp_quality);

#endif /* DENET_CALLCHAIN_FP_QUALITY_H */
