/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_FP_QUALITY_H
#define DENET_CALLCHAIN_FP_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* DENET_CALLCHAIN_FP_QUALITY_H */
