/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_STACKS_H
#define DENET_CAPTURE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/*
 * The frames of the stack ids of one generation. Bounded by the number of stacks that the kernel
 * side may send in one; emptied when the generation is drained.
 */
struct stacks;

struct stacks *stacks__new(void);
void stacks__delete(struct stacks *stacks); /* accepts NULL */

/* Keeps a copy of the frames; a known id stays as it is. 0 or -ENOMEM. */
int stacks__add(struct stacks *stacks, uint64_t id, const struct frames *frames);

/* The frames of an id, valid until stacks__add() or _clear(). False: unknown. */
bool stacks__find(const struct stacks *stacks, uint64_t id, struct frames *frames);

void stacks__clear(struct stacks *stacks);

/* Number of stacks held. */
size_t stacks__count(const struct stacks *stacks);

#endif /* DENET_CAPTURE_STACKS_H */
