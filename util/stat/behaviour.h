/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_BEHAVIOUR_H
#define DENET_STAT_BEHAVIOUR_H

#include <stdint.h>

#include "stat/stat_data.h"

/*
 * What holds a task up, by where its time went. Idle time is spent in calls that wait for work or
 * for time to pass: epoll, poll, select, sleeps, accept, pause, waits for children, and reads of
 * pipes and terminals; the rest of the wall time is active. Percentages:
 */
#define BEHAVIOUR_IDLE_BELOW 5    /* of the wall time is active: idle */
#define BEHAVIOUR_STARVED_FROM 30 /* of the active time without a CPU, but runnable: starved */
#define BEHAVIOUR_BOUND_FROM 50   /* of the active time of one kind: bound by it; else mixed */

/* Kinds of time; those of waits follow the category of the call that blocks. */
enum behaviour_time {
	BEHAVIOUR_RUNNING,
	BEHAVIOUR_RUNNABLE,
	BEHAVIOUR_IO,      /* calls on files; without counts of calls all of state D */
	BEHAVIOUR_LOCK,    /* futexes, semaphores, file locks; see behaviour__of() */
	BEHAVIOUR_NETWORK, /* calls on sockets that are no waits for work */
	BEHAVIOUR_MEMORY,  /* state D outside of such calls: page faults that read */
	BEHAVIOUR_IDLING,
	BEHAVIOUR_UNKNOWN, /* blocked in other calls, or it is not known in which */
	BEHAVIOUR_TIMES,
};

enum behaviour_kind {
	BEHAVIOUR_IS_CPU_BOUND,
	BEHAVIOUR_IS_STARVED,
	BEHAVIOUR_IS_IO_BOUND,
	BEHAVIOUR_IS_LOCK_BOUND,
	BEHAVIOUR_IS_NETWORK_BOUND,
	BEHAVIOUR_IS_MEMORY_BOUND,
	BEHAVIOUR_IS_IDLE,
	BEHAVIOUR_IS_MIXED,
};

/* The class of a task and its evidence. */
struct behaviour {
	enum behaviour_kind kind;
	uint64_t wall_ns;
	uint64_t active_ns;
	uint64_t ns[BEHAVIOUR_TIMES]; /* adds up to wall_ns, as far as the task's own times do */
};

/*
 * Classifies a thread, a process, a command or all of data. A condition variable is a futex, too:
 * where locks are counted, only waits for a mutex with a known holder are lock waits, and the
 * others idle; where locks are not counted, all are lock waits.
 */
struct behaviour behaviour__of(const struct stat_data *data, const struct stat_task *task);

/* "cpu-bound" and so on. */
const char *behaviour__name(enum behaviour_kind kind);

/* "running", "runnable", "io" and so on. */
const char *behaviour__time_name(enum behaviour_time time);

/* What a call waits for when it blocks. */
enum behaviour_time behaviour__of_call(const char *name, enum stat_file file);

#endif /* DENET_STAT_BEHAVIOUR_H */
