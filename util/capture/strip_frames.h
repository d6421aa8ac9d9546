/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_STRIP_FRAMES_H
#define DENET_CAPTURE_STRIP_FRAMES_H

#include <stdint.h>

#include "host/kallsyms.h"
#include "sample.h"

/*
 * Cuts the tracer's own frames and the scheduler's from the leaf side of a kernel chain,
 * so that its leaf says where a thread waits, the same under every hook: what lies
 * before __schedule is the tracer's, and __schedule itself and those of its family that
 * called it say nothing.
 */
struct trim;

/* From the kernel's symbols, which it does not keep; NULL: it cuts nothing. NULL: no memory. */
struct trim *trim__new(const struct kallsyms *kallsyms);
void trim__delete(struct trim *trim); /* accepts NULL */

/* False where the kernel's symbols are not known, so that chains keep their first frames. */
bool trim__works(const struct trim *trim);

/* Cuts the frames in place (moves their beginning). Accepts a NULL trim: cuts nothing. */
void trim__cut(const struct trim *trim, struct frames *kernel);

/* The same for a waker's chain: its leaf is what called the kernel's try_to_wake_up(). */
void trim__cut_wakeup(const struct trim *trim, struct frames *kernel);

#endif /* DENET_CAPTURE_STRIP_FRAMES_H */
