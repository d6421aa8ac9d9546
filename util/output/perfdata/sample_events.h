/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_SAMPLE_EVENTS_H
#define DENET_OUTPUT_PERFDATA_SAMPLE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"

struct writer;

struct sample_events_tally {
	uint64_t count; /* samples */
	uint64_t ns;
};

#define SAMPLE_EVENTS_LONGEST 3

/* A wait that went to offcpu-idle; ns 0: none. */
struct sample_events_wait {
	uint64_t ns;
	uint32_t pid;
	uint32_t tid;
	char call[32]; /* the rule that matched */
	char comm[16]; /* "": not known; filled in by the caller for messages */
};

/*
 * Turns a sample into events of a perf.data file: chooses them by its kind and splits its time
 * among them. Zero-initialised writes all blocks to offcpu-time.
 */
struct sample_events {
	struct writer *writer; /* borrowed */
	bool idle_apart;       /* waits for work go to offcpu-idle */
	bool split;	       /* time spent waiting for a CPU goes to queued-time */
	bool one_event;	       /* the second part of a split block counts no block */
	bool reasons;	       /* a sample with a reason has a denet:waits beside it */
	/* Written so far: */
	uint64_t ns;	       /* off the CPU: of offcpu-time and, with split, queued-time */
	uint64_t runqueue_ns;  /* of that, in queued-time */
	uint64_t for_any_ns;   /* of ns, in waits for any of several descriptors */
	uint64_t samples;      /* blocks and sums; split ones count once */
	uint64_t still_blocked; /* of these samples */
	struct sample_events_tally never_ran; /* threads that were blocked all the time */
	struct sample_events_tally idle;    /* of offcpu-idle */
	struct sample_events_wait longest[SAMPLE_EVENTS_LONGEST]; /* of idle, one of each thread */
	struct sample_events_tally wakeups; /* of wakeup-time */
	struct sample_events_tally running; /* of on-cpu-time */
};

/* Writes a sample that has all its frames; ctx is the sample_events. 0 or a negative errno. */
int sample_events__write(void *ctx, const struct sample *sample);

#endif /* DENET_OUTPUT_PERFDATA_SAMPLE_EVENTS_H */
