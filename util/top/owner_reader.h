/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_OWNER_READER_H
#define DENET_TOP_OWNER_READER_H

#include <stdint.h>

#include "base/idmap.h"
#include "top/user_request.h"

/*
 * Reads who holds the locks that threads wait for. At each look anew: a lock goes from hand to hand
 * while others sleep on. Used by the child of the user reader alone. Zeroed is empty.
 */
struct owner_reader {
	struct idmap waits;   /* by thread and switches -> who held its lock last, as in memory */
	struct idmap inner;   /* by process and id of its PID namespace -> tid */
	struct idmap scanned; /* processes that were searched for such ids */
	uint64_t forget;      /* CLOCK_MONOTONIC: when both of these are made anew */
	uint64_t searched_ns; /* how long that took in this batch */
};

/* A batch of requests begins. */
void owner_reader__begin(struct owner_reader *reader);

/*
 * The thread that holds the lock of a request, as a tid of our PID namespace: one of the same
 * process that is there, or with a lock between processes any. Where the memory does not tell, or
 * the thread has run since, the one that held it when the wait began. 0: not known.
 */
uint32_t owner_reader__read(struct owner_reader *reader, const struct user_request *request);

void owner_reader__free(struct owner_reader *reader);

#endif /* DENET_TOP_OWNER_READER_H */
