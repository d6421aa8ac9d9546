/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_COLUMN_CACHE_H
#define DENET_TOP_COLUMN_CACHE_H

#include "top/columns.h"

/*
 * The texts of all columns of threads, made once for as long as a thread waits in the same place:
 * of a thousand that wait, making them at each look would take most of the time.
 */
struct column_cache;

struct column_cache *column_cache__new(void);		  /* NULL: no memory */
void column_cache__delete(struct column_cache *cache); /* accepts NULL */

/* The texts of a sample, valid until the next call. NULL: no memory. */
const char *const *column_cache__texts(struct column_cache *cache,
				       const struct thread_sample *sample,
				       struct top_names *names);

#endif /* DENET_TOP_COLUMN_CACHE_H */
