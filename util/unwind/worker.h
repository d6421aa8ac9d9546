/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_WORKER_H
#define DENET_UNWIND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/task_event.h"
#include "unwind/unwinder.h"

/*
 * Unwinding off the reading path: a process of its own unwinds, fed through shared memory. A file
 * that never answers and one that kills who reads it cost the sample that needed them, no more:
 * another process goes on, and leaves that file alone. One thread drives a worker, and the
 * caller must have no other.
 */
struct unwind_worker;
struct machine; /* machine/machine.h */

struct unwind_worker_options {
	size_t max_bytes; /* of samples that wait; 0: UNWIND_WORKER_BYTES */
	int deadline_ms;  /* for one sample, 0: UNWIND_WORKER_MS */
};

#define UNWIND_WORKER_BYTES (32u << 20)
#define UNWIND_WORKER_MS 2000

/*
 * The result of a sample, in the order in which they were put. nr is 0 where status says that
 * there are no frames: then the caller has what the frame pointers gave. 0 or a negative errno,
 * which ends the call under way.
 */
typedef int (*unwind_done_fn)(void *ctx, void *cookie, const struct unwind_result *result);

/* Nothing is forked yet. machine is borrowed. NULL: no memory. */
struct unwind_worker *unwind_worker__new(const struct unwind_worker_options *options,
					 const struct machine *machine, unwind_done_fn fn,
					 void *ctx);

/* Kills the process, if there is one. Samples that wait are dropped. Accepts NULL. */
void unwind_worker__delete(struct unwind_worker *worker);

/* Forks. 0 or a negative errno; it is tried again when there is something to unwind. */
int unwind_worker__start(struct unwind_worker *worker);

/* The process that unwinds, which is not to be recorded; 0: none. It changes when one died. */
pid_t unwind_worker__pid(const struct unwind_worker *worker);

/*
 * An event that the machine has handled, or a machine__forget(): to be told between two samples,
 * so that the machine of the process that unwinds, a copy by fork(2), stays the same.
 */
void unwind_worker__tell(struct unwind_worker *worker, const struct task_event *event);
void unwind_worker__forget(struct unwind_worker *worker, uint64_t before);

/*
 * A sample to be unwound, once all that happened before it has been told; copied. cookie comes
 * back with the result. 0; -ENOSPC if there is no room, -EAGAIN if no process could be made, and
 * -ESHUTDOWN while processes fail too often, or those of this sample's user did: these are
 * counted, and the caller goes on with what the frame pointers gave; -ENOMEM.
 */
int unwind_worker__put(struct unwind_worker *worker, const struct unwind_sample *sample,
		       void *cookie);

/*
 * Waits, timeout_ms at most, for results unless there are some or nothing is to be done; hands
 * out all that are there; replaces a process that got stuck or died. 0 or a negative errno.
 */
int unwind_worker__poll(struct unwind_worker *worker, int timeout_ms);

/* Samples that wait for their result. */
size_t unwind_worker__pending(const struct unwind_worker *worker);

/* Ends the waiting: what is pending comes back as UNWIND_FAILED. 0 or the first error of fn. */
int unwind_worker__abandon(struct unwind_worker *worker);

struct unwind_worker_stats {
	uint64_t status[UNWIND_NR_STATUS]; /* samples by their result */
	uint64_t full;	   /* that found no room, or nobody to unwind them */
	uint64_t restarts; /* processes that got stuck or died */
	uint64_t refused;  /* times that no process could be made */
	uint64_t cpu_ns;   /* CPU time of the processes, those that are gone with it */
	uint64_t gone_ns;  /* of it, of those that are gone */
};

void unwind_worker__stats(const struct unwind_worker *worker, struct unwind_worker_stats *stats);

#endif /* DENET_UNWIND_WORKER_H */
