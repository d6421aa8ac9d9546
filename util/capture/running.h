/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_RUNNING_H
#define DENET_CAPTURE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "wire.h"

/*
 * Periods of on-CPU samples. The scheduler's switches show exactly how long each thread has run,
 * looks at the CPUs show where. At the end of a window the time that a thread has run since the
 * last one is divided among the looks at it, each of the same weight; without any, it is delivered
 * without frames. So the periods of a thread are its running time, to the nanosecond.
 * Zero-initialised is empty.
 */
struct running {
	struct idmap threads; /* incarnation -> place in pool, from 1 on */
	struct running_thread *pool;
	size_t nr;
	size_t capacity;
	size_t free_place; /* chain of places without a thread, from 1 on; 0: there is none */
	struct buffer sums; /* of the window: looks at one place of a thread */
	/* Of threads that have ended, or existed at the end: */
	uint64_t lives;
	uint64_t life_ns;
	uint64_t run_ns;
	uint64_t rest_ns;
	uint64_t uneven; /* of these, lives that are not the sum of their parts */
	uint64_t unaccounted_ns; /* by how much */
};

/* Adds looks at a thread at one place in the window; kept until its end. 0 or -ENOMEM. */
int running__add_sum(struct running *running, const struct wire_entry_key *key,
		     const struct wire_entry *entry);

/*
 * The period of a look that is a sample of its own, when the thread had run for run_ns: all time
 * not delivered before. 0 also if there is no memory: the time is then delivered later.
 */
uint64_t running__tell(struct running *running, uint64_t incarnation, uint64_t run_ns);

/* Takes the programs' record of a thread. 0 or -ENOMEM. */
int running__take(struct running *running, const struct wire_run *run);

/* Receives the results of a window. Each returns 0 or an errno, which ends the window. */
struct running_sink {
	void *ctx;
	int (*sum)(void *ctx, const struct wire_entry_key *key, const struct wire_entry *entry,
		   uint64_t period);
	int (*not_sampled)(void *ctx, const struct wire_run *run, uint64_t period);
};

/* Ends the window, without periods of 0 ns. 0, -ENOMEM, or the first error of the sink. */
int running__end_window(struct running *running, const struct running_sink *sink);

void running__free(struct running *running);

#endif /* DENET_CAPTURE_RUNNING_H */
