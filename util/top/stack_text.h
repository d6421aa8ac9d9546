/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_STACK_TEXT_H
#define DENET_TOP_STACK_TEXT_H

#include <stddef.h>

#include "sample.h"
#include "top/names.h"

/*
 * Frames of the kernel as "leaf;its caller;...", with offsets also "+0x1f" behind each name; as
 * many as there is room for.
 */
void stack_text__put_kernel(const struct frames *frames, const struct top_names *names,
			    bool offsets, char *buf, size_t size);

#endif /* DENET_TOP_STACK_TEXT_H */
