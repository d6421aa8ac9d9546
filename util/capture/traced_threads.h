/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_TRACED_THREADS_H
#define DENET_CAPTURE_TRACED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "capture/capture.h"

/*
 * The threads that are targets, for records of all threads: the programs have a state of each
 * target; this follows the same rules by the records of births and deaths.
 */
struct traced_threads {
	bool all;	     /* every thread is a target, except kernel threads */
	bool kernel_threads; /* and those, too */
	bool no_inherit;     /* only threads of a target's process inherit, not its children */
	bool no_threads;     /* not even those */
	bool by_cpu;	     /* only hits on the CPUs of cpu_bits count */
	uint64_t cpu_bits[CAPTURE_MAX_CPUS / 64];
	struct idmap tids;   /* targets; with all: kernel threads, which are none */
};

/* Takes the rules of targets. Must be called before add_targets() drops the lists. */
void traced_threads__init(struct traced_threads *threads, const struct capture_targets *targets);
void traced_threads__free(struct traced_threads *threads);

/* Adds a thread that existed at the start. 0 or -ENOMEM. */
int traced_threads__add(struct traced_threads *threads, const struct capture_task *task);

/* Follows births, deaths and execs, in the order of time. 0 or -ENOMEM. */
int traced_threads__follow(struct traced_threads *threads, const struct task_event *event);

/* True if a hit of this thread on that CPU counts. */
bool traced_threads__has(const struct traced_threads *threads, pid_t tid, uint32_t cpu);

#endif /* DENET_CAPTURE_TRACED_THREADS_H */
