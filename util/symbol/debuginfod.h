/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_DEBUGINFOD_H
#define DENET_SYMBOL_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "symbol/symbol_jobs.h"

/*
 * Asks the servers that DEBUGINFOD_URLS names, and none without it, for the files of those queries
 * that have addresses without a name, by their build-ids, and answers them again with what came.
 * debuginfod-find does it, which keeps what it fetched in its cache. It ends with deadline_ms. 0 or
 * a negative errno; a server that has nothing is none.
 */
int debuginfod__answer(struct symbol_query *queries, size_t nr,
		       const struct symbol_jobs_options *options, struct strings *strings,
		       int deadline_ms);

#endif /* DENET_SYMBOL_DEBUGINFOD_H */
