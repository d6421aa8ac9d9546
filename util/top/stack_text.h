/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_STACK_TEXT_H
#define DENET_TOP_STACK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/options.h"
#include "sample.h"
#include "top/names.h"

/* Room for the name of a frame, and for the text of any stack that was recorded. */
#define STACK_TEXT_FRAME 320
#define STACK_TEXT_LEN (CAPTURE_MAX_FRAMES * STACK_TEXT_FRAME)

/* What stands for the frames that a text has no room for. */
#define STACK_TEXT_CUT "[truncated]"

/* Writes the name of frame i, 0 the leaf, as by stack_text__put_name(). */
typedef void (*stack_name_fn)(const void *ctx, uint32_t i, char frame[STACK_TEXT_FRAME]);

/* Copies a name. A longer one has "..." in place of its middle. */
void stack_text__put_name(const char *name, char frame[STACK_TEXT_FRAME]);

/*
 * Writes the names of nr frames as "leaf;its caller;...". Where they need more room than there is,
 * the leaf's side and the root's stay, with STACK_TEXT_CUT between them. size: at least
 * 3 * STACK_TEXT_FRAME; with STACK_TEXT_LEN, CAPTURE_MAX_FRAMES are whole.
 */
void stack_text__join(uint32_t nr, stack_name_fn name, const void *ctx, char *buf, size_t size);

/* Writes frames of the kernel in this way, with offsets also "+0x1f" behind each name. */
void stack_text__put_kernel(const struct frames *frames, const struct top_names *names,
			    bool offsets, char *buf, size_t size);

#endif /* DENET_TOP_STACK_TEXT_H */
