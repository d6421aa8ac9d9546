/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_FP_QUALITY_H
#define DENET_CALLCHAIN_FP_QUALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* DENET_CALLCHAIN_FP_QUALITY_H */
