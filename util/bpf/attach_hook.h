/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ATTACH_HOOK_H
#define DENET_BPF_ATTACH_HOOK_H

#include "capture/capture.h"

struct offer;

/* Tries one way. 0 or a negative errno, with nothing left behind. */
typedef int (*way_try_fn)(void *ctx, enum capture_way way);

/*
 * Tries the ways that are asked for and that the kernel has, the best first, until one works;
 * each is told with -v. 0, or the negative errno that tells most: -EOPNOTSUPP if the kernel has
 * none of them.
 */
int way__take(enum capture_way want, const struct offer *offer, way_try_fn fn, void *ctx);

#endif /* DENET_BPF_ATTACH_HOOK_H */
