/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_STACK_WALKER_H
#define DENET_TOP_STACK_WALKER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/options.h"
#include "top/user_request.h"

/*
 * Walks user stacks of other processes by unwind tables, and along frame pointers where there are
 * none. Mappings and tables are learnt when a walk first meets them. It may hang with a process
 * whose memory cannot be read: for the child of user_reader.h.
 */
struct stack_walker;

/* tables: false: frame pointers only. NULL: no memory. */
struct stack_walker *stack_walker__new(bool tables);
void stack_walker__delete(struct stack_walker *walker); /* accepts NULL */

struct user_stack {
	uint64_t is_early; /* something was missing that may be known the next time */
	uint64_t ips[CAPTURE_MAX_FRAMES];
};

/*
 * Walks the stack of a thread off the CPU. Returns the number of frames; 0: something is to be
 * learnt first. last: the walk does without it.
 */
uint32_t stack_walker__walk(struct stack_walker *walker, const struct user_request *request,
			    bool last, struct user_stack *stack);

/*
 * Learns what walks have missed, until until_ns (clock__now_ns()) or somewhat later. False: there
 * is nothing to be learnt.
 */
bool stack_walker__learn(struct stack_walker *walker, uint64_t until_ns);

#endif /* DENET_TOP_STACK_WALKER_H */
