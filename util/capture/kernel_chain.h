/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_KERNEL_CHAIN_H
#define DENET_CAPTURE_KERNEL_CHAIN_H

#include <stdint.h>

#include "host/kallsyms.h"
#include "sample.h"

/*
 * The functions that are cut from kernel chains. At the leaf these are the tracer's own (all before
 * __schedule), __schedule and the functions of its family that called it, so that the leaf is the
 * place of the wait, the same under every hook. At the root it is the entry common to all system
 * calls, so that a kernel chain begins with the call itself.
 */
struct kernel_chain;

/*
 * Uses the kernel's symbols, which it does not keep; NULL: it cuts nothing. Returns NULL if there
 * is no memory.
 */
struct kernel_chain *kernel_chain__new(const struct kallsyms *kallsyms);
void kernel_chain__delete(struct kernel_chain *kernel_chain); /* accepts NULL */

/* False if the kernel's symbols are not known, so that nothing is cut. */
bool kernel_chain__works(const struct kernel_chain *kernel_chain);

/*
 * Cuts the frames of a sample in place (moves their beginning and their end). The leaf of a wake-up
 * is the caller of the kernel's try_to_wake_up(). Accepts NULL: cuts nothing.
 */
void kernel_chain__cut(const struct kernel_chain *kernel_chain, enum sample_kind kind,
		       struct frames *kernel);

#endif /* DENET_CAPTURE_KERNEL_CHAIN_H */
