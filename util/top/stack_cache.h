/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_STACK_CACHE_H
#define DENET_TOP_STACK_CACHE_H

#include <stdbool.h>

#include "top/thread_sample.h"

/* User stacks of threads off the CPU, each read once for as long as its thread does not run. */
struct stack_cache;

/* tables: by unwind tables, where there are some, not by frame pointers alone. NULL: no memory. */
struct stack_cache *stack_cache__new(bool tables);
void stack_cache__delete(struct stack_cache *cache); /* accepts NULL */

/* A pass begins: so much may be known that it is forgotten. */
void stack_cache__begin(struct stack_cache *cache);

/* Asks for the stack of a sample, unless it is known. 0 or -ENOMEM. */
int stack_cache__want(struct stack_cache *cache, const struct thread_sample *sample);

/* Reads what was asked for. 0 or a negative errno. */
int stack_cache__read(struct stack_cache *cache);

/* Fills in the user side of a sample, if it is known: valid until the next reading. */
void stack_cache__find(const struct stack_cache *cache, struct thread_sample *sample);

/* CPU time of the process that reads them. */
uint64_t stack_cache__cpu_ns(const struct stack_cache *cache);

#endif /* DENET_TOP_STACK_CACHE_H */
