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
 * called it say nothing. From the root side it cuts the entry of a system call, which is the same
 * for all of them, so that a kernel chain begins with the call itself.
 */
struct strip_frames;

/* From the kernel's symbols, which it does not keep; NULL: it cuts nothing. NULL: no memory. */
struct strip_frames *strip_frames__new(const struct kallsyms *kallsyms);
void strip_frames__delete(struct strip_frames *strip_frames); /* accepts NULL */

/* False where the kernel's symbols are not known, so that chains keep their first frames. */
bool strip_frames__works(const struct strip_frames *strip_frames);

/*
 * Cuts the frames of a sample in place (moves their beginning and their end). The leaf of a wake-up
 * is the caller of the kernel's try_to_wake_up(). Accepts NULL: cuts nothing.
 */
void strip_frames__cut(const struct strip_frames *strip_frames, enum sample_kind kind,
		       struct frames *kernel);

#endif /* DENET_CAPTURE_STRIP_FRAMES_H */
