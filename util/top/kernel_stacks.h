/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_KERNEL_STACKS_H
#define DENET_TOP_KERNEL_STACKS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "top/thread_sample.h"

/*
 * Kernel stacks of threads off the CPU: the sampler in the kernel passes each on once for as long
 * as its thread does not run. Zero-initialised is empty.
 */
struct kernel_stacks {
	struct idmap offsets; /* by thread and switches -> offset in frames */
	struct buffer frames; /* uint64_t: a number, and as many addresses behind it */
	uint32_t generation;  /* how often all was forgotten */
};

/* A pass begins: so much may be known that it is forgotten. Returns the generation, from 1 on. */
uint32_t kernel_stacks__begin(struct kernel_stacks *stacks);

/*
 * Keeps the stack of a sample, or fills in that which is known: valid until the next sample. 0 or
 * -ENOMEM.
 */
int kernel_stacks__take(struct kernel_stacks *stacks, struct thread_sample *sample);

void kernel_stacks__free(struct kernel_stacks *stacks);

#endif /* DENET_TOP_KERNEL_STACKS_H */
