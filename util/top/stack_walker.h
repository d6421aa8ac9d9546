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

/* When a stack is to be walked again, though its thread has not run. */
enum user_stack_again {
	USER_STACK_WHOLE, /* it is not */
	USER_STACK_SOON,  /* at the next look: something was missing that may be known then */
	USER_STACK_LATER, /* in a minute or so: that did not help several times */
};

struct user_stack {
	uint64_t again; /* enum user_stack_again */
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

/* Reads old mappings anew that walks have met, for 0.1 s at most: no walk waits for it. */
void stack_walker__refresh(struct stack_walker *walker);

#endif /* DENET_TOP_STACK_WALKER_H */
