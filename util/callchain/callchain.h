/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_CALLCHAIN_H
#define DENET_CALLCHAIN_CALLCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "callchain/sample_queue.h"
#include "sample.h"
#include "machine/task_event.h"

struct machine;
struct unwind_worker;

/* Results of user stacks, in samples. */
struct callchain_stats {
	uint64_t unwound;   /* up to the thread's root */
	uint64_t truncated; /* unwound, but not to the root */
	uint64_t fell_back; /* had a copy, but got the frames by frame pointers */
	uint64_t cut;       /* by frame pointers, with garbage cut off */
};

/*
 * Between the capture and the file: gives the user side of a sample its final frames. That takes
 * the maps of its process at the end of the block, which may be known later than the sample is.
 */
struct callchain {
	struct machine *machine;
	struct unwind_worker *worker; /* NULL: nothing is unwound */
	struct sample_queue waiting;  /* wait for the side band up to their times */
	struct sample_queue pending;  /* passed to the worker, in its order, without their copies */
	uint32_t max_frames;
	bool raw;            /* copies are passed on unchanged */
	uint64_t settled;    /* the side band is complete up to this time */
	uint64_t last_round; /* settled at the last round */
	struct callchain_stats stats;
	/* Called when samples of a process should carry copies, or no longer; may be NULL. */
	void (*choose)(void *ctx, pid_t pid, bool chosen);
	void *choose_ctx;
	bool incomplete; /* maps have been lost: addresses in none may be code */
	int (*give)(void *ctx, const struct sample *sample);
	void *ctx;
};

enum callchain_mode {
	CALLCHAIN_FP,     /* no copies */
	CALLCHAIN_UNWIND, /* frames come from the copies */
	CALLCHAIN_RAW,    /* copies are passed on unchanged */
};

/* CPU time of the processes that unwind, ns; *gone_ns: of those that have ended. */
uint64_t callchain__cpu_ns(const struct callchain *callchain, uint64_t *gone_ns);

/*
 * Each sample is passed to give, once, with its final frames and why there are no more of them;
 * machine is borrowed. 0 or -ENOMEM.
 */
int callchain__init(struct callchain *callchain, enum callchain_mode mode, struct machine *machine,
		    int (*give)(void *ctx, const struct sample *sample), void *ctx);
void callchain__free(struct callchain *callchain);

/*
 * With CALLCHAIN_UNWIND: forks the process that unwinds, after the capture has started, so that it
 * is no target. max_frames: of a user side. 0 or a negative errno (logged).
 */
int callchain__start(struct callchain *callchain, uint32_t max_frames);

/* Takes a sample of the capture, and delivers it now or later. 0 or give's negative errno. */
int callchain__sample(struct callchain *callchain, const struct sample *sample);

/* An event that the machine has handled. */
void callchain__task(struct callchain *callchain, const struct task_event *event);

/* The side band is complete up to that time. 0 or give's negative errno. */
int callchain__settled(struct callchain *callchain, uint64_t time);

/* Records of the side band may have been lost. */
void callchain__lost(struct callchain *callchain);

/* The earliest time of pending samples; UINT64_MAX: there are none. */
uint64_t callchain__oldest(const struct callchain *callchain);

/*
 * Delivers all pending samples, after deadline_ms with the frames by frame pointers. progress,
 * which may be NULL, gets the number left now and then. 0 or give's error.
 */
int callchain__finish(struct callchain *callchain, int deadline_ms,
		      void (*progress)(void *ctx, size_t left), void *ctx);

/* A window has been drained: tasks that ended before it began are forgotten. */
void callchain__round(struct callchain *callchain);

#endif /* DENET_CALLCHAIN_CALLCHAIN_H */
