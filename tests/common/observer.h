/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_OBSERVER_H
#define DENET_TESTS_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* One context switch, as perf's sched:sched_switch told it. */
struct observed_switch {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	pid_t prev;
	pid_t next;
	char state[4]; /* of prev: "S", "D", "R", "R+", "X" ... */
};

#define OBSERVER_MAX_CPUS 64

/*
 * A second observer that shares nothing with us: the machine's perf records every
 * context switch during a test, and what each thread was off the CPU is added up from it.
 */
struct observer {
	pid_t perf;
	pid_t spinners[OBSERVER_MAX_CPUS];
	int control;
	int ack;
	char path[64]; /* the file that perf writes */
	struct observed_switch *switches;
	size_t nr;
	size_t capacity;
	uint64_t lost; /* events that perf lost: then it is no truth */
};

/* NULL if this machine's perf can observe, else the reason why not, for SKIP. */
const char *observer__refused(void);

/* Starts perf; on return it is recording. 0 or -errno. */
int observer__start(struct observer *observer);

/* Ends the recording and reads it. 0 or -errno. */
int observer__stop(struct observer *observer);

/*
 * Reads one event that perf script printed: a line, or some, since the name of a thread may
 * hold newlines, which perf prints as they are. False at the end of the file.
 */
bool observer__read_event(FILE *script, char *text, size_t size);

/* Takes such an event apart. 1: a switch, 0: another event, -EINVAL: malformed. */
int observer__parse_event(const char *text, struct observed_switch *out);

struct observed {
	uint64_t count;
	uint64_t ns;
	bool torn; /* the thread went twice and did not come between: perf missed it */
};

/*
 * Blocks of thread tid that ended between start_ns and end_ns, each counted from its begin or
 * start_ns, whichever is later. states: words between spaces (" S D "), of which one must match;
 * NULL: all that a thread returns from. The thread slept when perf started.
 */
struct observed observer__blocks(const struct observer *observer, pid_t tid, uint64_t start_ns,
				 uint64_t end_ns, const char *states);

/* The same, and the ns of each, in the order of their ends, in an array of that size. */
struct observed observer__list(const struct observer *observer, pid_t tid, uint64_t start_ns,
			       uint64_t end_ns, const char *states, uint64_t *ns, size_t size);

/*
 * The stretches of thread tid on a CPU that ended while perf recorded, from when it was switched to
 * one. torn: it was switched to two in a row, or left one that it was not seen on.
 */
struct observed observer__running(const struct observer *observer, pid_t tid);

/* Kills perf if it still runs, removes the file, frees. */
void observer__free(struct observer *observer);

#endif /* DENET_TESTS_OBSERVER_H */
