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
 * that never answers, or that kills the process reading it, costs only the sample that needed it:
 * another process goes on and does not open that file. One thread drives a worker, and the caller
 * must have no other.
 */
struct unwind_worker;
struct machine; /* machine/machine.h */

struct unwind_worker_options {
	size_t max_bytes; /* of waiting samples; 0: UNWIND_WORKER_BYTES */
	int deadline_ms;  /* for one sample, 0: UNWIND_WORKER_MS */
};

#define UNWIND_WORKER_BYTES (32u << 20)
#define UNWIND_WORKER_MS 2000

/*
 * Takes the result of a sample, in the order of unwind_worker__put(). If nr is 0, as status
 * explains, the frames by frame pointers are all there is. 0 or a negative errno, which ends the
 * current call.
 */
typedef int (*unwind_done_fn)(void *ctx, void *cookie, const struct unwind_result *result);

/* Does not fork yet. machine is borrowed. NULL: no memory. */
struct unwind_worker *unwind_worker__new(const struct unwind_worker_options *options,
					 const struct machine *machine, unwind_done_fn fn,
					 void *ctx);

/* Kills the process, if there is one. Waiting samples are dropped. Accepts NULL. */
void unwind_worker__delete(struct unwind_worker *worker);

/* Forks. 0 or a negative errno; the next sample tries again. */
int unwind_worker__start(struct unwind_worker *worker);

/* The process that unwinds, which is not to be recorded; 0: none. A replacement has another pid. */
pid_t unwind_worker__pid(const struct unwind_worker *worker);

/*
 * Passes on an event that the machine has handled, or a machine__forget(), in the order of events
 * and samples, so that the copy of the machine in the process that unwinds stays the same.
 */
void unwind_worker__tell(struct unwind_worker *worker, const struct task_event *event);
void unwind_worker__forget(struct unwind_worker *worker, uint64_t before);

/*
 * Queues a copy of a sample, after all earlier events have been passed on. cookie comes back with
 * the result. 0; -ENOSPC if there is no room, -EAGAIN if no process could be made, -ESHUTDOWN while
 * processes fail too often, or for this sample's user: these are counted, and the caller keeps the
 * frames by frame pointers; -ENOMEM.
 */
int unwind_worker__put(struct unwind_worker *worker, const struct unwind_sample *sample,
		       void *cookie);

/*
 * Waits, timeout_ms at most, until there are results or nothing is pending; delivers all results;
 * replaces a process that got stuck or died. 0 or a negative errno.
 */
int unwind_worker__poll(struct unwind_worker *worker, int timeout_ms);

/* Number of samples that wait for their result. */
size_t unwind_worker__pending(const struct unwind_worker *worker);

/* Stops waiting: pending samples come back as UNWIND_FAILED. 0 or the first error of fn. */
int unwind_worker__abandon(struct unwind_worker *worker);

struct unwind_worker_stats {
	uint64_t status[UNWIND_NR_STATUS]; /* samples by their result */
	uint64_t full;	   /* samples without room or a process */
	uint64_t restarts; /* processes that got stuck or died */
	uint64_t refused;  /* times that no process could be made */
	uint64_t cpu_ns;   /* CPU time of the processes, dead ones included */
	uint64_t gone_ns;  /* of it, of dead ones */
};

/* Counts since unwind_worker__new(), the CPU time up to now. */
void unwind_worker__stats(const struct unwind_worker *worker, struct unwind_worker_stats *stats);

#endif /* DENET_UNWIND_WORKER_H */
