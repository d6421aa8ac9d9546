/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_TEXT_CACHE_H
#define DENET_TOP_TEXT_CACHE_H

#include <stdbool.h>

#include "top/thread_sample.h"

/*
 * What is in the memory of a thread's process: command lines, which are read again after a second,
 * and, read in each pass, what a call of Linux AIO is about, and who holds the lock that a thread
 * waits for.
 */
struct text_cache;

struct text_cache_options {
	bool cmdlines;
	bool aio;
	bool lock_owners;
};

struct text_cache *text_cache__new(const struct text_cache_options *options); /* NULL: no memory */
void text_cache__delete(struct text_cache *cache); /* accepts NULL */

/* A pass begins: so much may be known that it is forgotten. */
void text_cache__begin(struct text_cache *cache);

/* Asks for the texts of a sample, unless they are known. 0 or -ENOMEM. */
int text_cache__want(struct text_cache *cache, const struct thread_sample *sample);

/* Reads what was asked for. 0 or a negative errno. */
int text_cache__read(struct text_cache *cache);

/* Fills in the texts of a sample that are known: valid until the next pass. */
void text_cache__find(const struct text_cache *cache, struct thread_sample *sample);

/* CPU time of the process that reads them. */
uint64_t text_cache__cpu_ns(const struct text_cache *cache);

#endif /* DENET_TOP_TEXT_CACHE_H */
