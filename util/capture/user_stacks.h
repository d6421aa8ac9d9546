/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_USER_STACKS_H
#define DENET_CAPTURE_USER_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "sample.h"
#include "wire.h"

/*
 * Copies of user stacks that wait for their blocks: at most one for each CPU, since a program sends
 * a copy and then its block. Zero-initialised is empty.
 */
struct user_stacks {
	struct buffer *of_cpu; /* a whole wire_copy each, or nothing */
	size_t nr;
};

/*
 * Keeps a record, which is at the beginning of the buffer, for the CPU's next block. The buffer
 * gets other memory in exchange. 0, -EINVAL if the record is none, or -ENOMEM.
 */
int user_stacks__keep(struct user_stacks *copies, unsigned int cpu, struct buffer *record);

/*
 * The copy that was sent for the block, valid until user_stacks__keep(). False: none was sent, or
 * it was lost.
 */
bool user_stacks__find(const struct user_stacks *copies, const struct wire_block *block,
		  struct user_copy *copy);

void user_stacks__free(struct user_stacks *copies);

#endif /* DENET_CAPTURE_USER_STACKS_H */
