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
#include "record/wait_census.h"

struct findings;

/* What a finished recording comes to. */
struct summary {
	struct capture_stats stats;
	enum attach_hook hook;
	uint64_t ns; /* off the CPU, in all samples of offcpu-time and queued-time */
	uint64_t runqueue_ns; /* of it, in queued-time */
	bool split;	      /* there is a queued-time */
	bool wakers;		      /* there is a wakeup-time */
	struct sample_events_tally wakeups; /* samples of it */
	bool records_preempted; /* blocks of state R are in it */
	const struct thread_waits *waiting; /* those that waited longest for a CPU; borrowed */
	size_t nr_waiting;
	uint64_t samples;
	uint64_t still_blocked;    /* of these: threads that had not come back */
	struct sample_events_tally never_ran; /* of these, threads that were blocked all the time */
	struct wait_census_result waits; /* where threads waited most */
	struct sample_events_tally idle; /* samples of offcpu-idle: waits for work */
	struct sample_events_wait longest_idle[SAMPLE_EVENTS_LONGEST];
	uint64_t bytes;
	uint64_t period_ns; /* of the draw, as it was in the end; 0: all blocks counted */
	uint64_t threshold_ns;
	uint64_t sampling_changes; /* how often the two above changed */
	double sampled_for_cost; /* share of the time for which --max-overhead asked for a period */
	bool copies;		/* user stacks were asked to be copied */
	struct callchain_stats callchain;
	bool tracepoints; /* of the kernel are recorded */
	bool one_event; /* events are frames */
	bool reasons;		/* samples tell what they waited for */
	uint64_t for_any_ns;	/* of ns, in waits for any of several descriptors */
	const struct fp_program *short_chains; /* whose chains end early; borrowed; NULL: none */
	bool rotated;           /* path has time stamps behind it */
	const char *path;       /* "-": a pipe */
	struct next_step next;
};

/* Blocks that were seen and are in no sample, for whatever reason but a filter. */
uint64_t summary__lost(const struct capture_stats *stats);

/* The last line, in perf's manner, without a newline. Returns buf. */
char *summary__format(const struct summary *summary, char *buf, size_t size);

/* Prints the findings and what was lost, and with -v all accounts, where there are no samples. */
void summary__print_stats(const struct capture_stats *stats, struct findings *findings);

/*
 * The line on what was set apart as idle, with its greatest waits; empty where nothing was. Returns
 * buf.
 */
char *summary__format_idle(const struct summary *summary, char *buf, size_t size);

/*
 * The line on event loops: where the time is in waits for any of several descriptors, the callchain
 * does not tell for which. Empty where it is less than half, or where samples tell. Returns buf.
 */
char *summary__format_for_any(const struct summary *summary, char *buf, size_t size);

/*
 * The line on how threads spent their time, running, runnable and blocked; empty where time on a
 * CPU is not recorded. Returns buf.
 */
char *summary__format_lives(const struct summary *summary, char *buf, size_t size);

/*
 * The line on threads that were blocked all the time, such as pools of workers, where they have so
 * much of it that a report begins with them. Empty where they do not, or where there are no others.
 * Returns buf.
 */
char *summary__format_never_ran(const struct summary *summary, char *buf, size_t size);

/*
 * The line on uninterruptible waits (state D), which are never idle and often stand behind longer
 * waits of others; empty where they are short for the length of the recording. Returns buf.
 */
char *summary__format_uninterruptible(const struct summary *summary, char *buf, size_t size);

/*
 * Prints the findings, the worst first, with -v all accounts, and unless quiet the last lines: what
 * was recorded, and what to type next.
 */
void summary__print(const struct summary *summary, struct findings *findings);

#endif /* DENET_RECORD_SUMMARY_H */
