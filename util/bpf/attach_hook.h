/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ATTACH_HOOK_H
#define DENET_BPF_ATTACH_HOOK_H

#include "capture/capture.h"

struct kernel_features;

/* Tries one way. 0 or a negative errno, with nothing left behind. */
typedef int (*attach_hook_try_fn)(void *ctx, enum attach_hook hook);

/*
 * Tries the ways that are asked for and that the kernel has, the best first, until one works;
 * each is told with -v. 0, or the negative errno that tells most: -EOPNOTSUPP if the kernel has
 * none of them.
 */
int attach_hook__take(enum attach_hook want, const struct kernel_features *kernel_features,
		      attach_hook_try_fn fn, void *ctx);

#endif /* DENET_BPF_ATTACH_HOOK_H */
