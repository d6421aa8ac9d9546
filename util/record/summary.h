/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SUMMARY_H
#define DENET_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "output/perfdata/sample_events.h"
#include "callchain/callchain.h"
#include "record/next_step.h"
#include "record/wait_stats.h"

struct chain_stats;
struct findings;

/* Results of a finished recording. */
struct summary {
	struct capture_stats stats;
	enum attach_hook hook;
	uint64_t ns; /* off the CPU, in all samples of offcpu-time and queued-time */
	uint64_t runqueue_ns; /* of it, in queued-time */
	bool split;	      /* there is a queued-time */
	bool wakers;		      /* there is a wakeup-time */
	struct sample_events_tally wakeups; /* samples of it */
	bool records_preempted; /* blocks of state R are in it */
	const struct thread_waits *waiting; /* threads with the longest waits for a CPU; borrowed */
	size_t nr_waiting;
	uint64_t samples;
	uint64_t still_blocked;    /* of these: threads that had not come back */
	struct sample_events_tally never_ran; /* of these, threads that were blocked all the time */
	struct wait_stats_result waits; /* where threads waited most */
	struct sample_events_tally idle; /* samples of offcpu-idle: waits for work */
	struct sample_events_wait longest_idle[SAMPLE_EVENTS_LONGEST];
	uint64_t bytes;
	uint64_t period_ns; /* of the draw at the end; 0: each block was recorded */
	uint64_t threshold_ns;
	uint64_t sampling_changes; /* number of changes of the two above */
	double sampled_for_cost; /* share of the time in which --max-overhead set a period */
	bool copies;		/* copies of user stacks were requested */
	bool fp_asked_for;	/* frame pointers were asked for, and are not just what is left */
	struct callchain_stats callchain;
	bool tracepoints; /* of the kernel are recorded */
	bool one_event; /* events are frames */
	bool reasons;		/* samples have reasons */
	uint64_t for_any_ns;	/* of ns, in waits for any of several descriptors */
	const struct chain_stats *chains; /* borrowed; NULL: they come from copies */
	bool by_tables;		/* user stacks were walked by unwind tables */
	bool rotated;           /* path has time stamps behind it */
	const char *path;       /* "-": a pipe */
	struct next_step next;
};

/* The last line, in perf's manner, without a newline. Returns buf. */
char *summary__format(const struct summary *summary, char *buf, size_t size);

/* The line on idle time, with its longest waits; empty if there was none. Returns buf. */
char *summary__format_idle(const struct summary *summary, char *buf, size_t size);

/*
 * The line on event loops: in waits for any of several descriptors, the callchain does not show
 * which one ended the wait. Empty if they are less than half of the time, or if samples have
 * reasons. Returns buf.
 */
char *summary__format_for_any(const struct summary *summary, char *buf, size_t size);

/*
 * The line on how threads spent their time, running, runnable and blocked; empty where time on a
 * CPU is not recorded. Returns buf.
 */
char *summary__format_lives(const struct summary *summary, char *buf, size_t size);

/*
 * The line on threads that were blocked all the time, such as pools of workers, if they have so
 * much of it that a report begins with them; empty otherwise, or if there are no other threads.
 * Returns buf.
 */
char *summary__format_never_ran(const struct summary *summary, char *buf, size_t size);

/*
 * The line on uninterruptible waits (state D), which are never idle and often cause longer waits of
 * other threads; empty if they are short for the length of the recording. Returns buf.
 */
char *summary__format_uninterruptible(const struct summary *summary, char *buf, size_t size);

/*
 * Prints the findings, the worst first, with -v all statistics, and unless quiet the last lines:
 * the recording's contents and the next command.
 */
void summary__print(const struct summary *summary, struct findings *findings);

#endif /* DENET_RECORD_SUMMARY_H */
