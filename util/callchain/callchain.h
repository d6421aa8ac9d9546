/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_CALLCHAIN_H
#define DENET_CALLCHAIN_CALLCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "callchain/fp_quality.h"
#include "callchain/sample_queue.h"
#include "sample.h"
#include "machine/task_event.h"

struct machine;
struct unwind_worker;

/* What became of user stacks, in samples. */
struct callchain_stats {
	uint64_t unwound;   /* up to the thread's root */
	uint64_t truncated; /* unwound, but not to the root */
	uint64_t fell_back; /* had a copy, and have the frames of frame pointers after all */
	uint64_t cut;	    /* by frame pointers, of which garbage was cut off */
};

/*
 * Between the capture and the file: the user side of a sample gets the frames that it will
 * have. That takes the maps of its process as they were when the block ended, which may be
 * known later than the sample is.
 */
struct callchain {
	struct machine *machine;
	struct unwind_worker *worker; /* NULL: nothing is unwound */
	struct sample_queue waiting;   /* for the side band up to their times */
	struct sample_queue pending; /* with the worker, without their copies; in the order in it */
	uint32_t max_frames;
	bool raw;	       /* copies go on as they are */
	uint64_t settled;      /* the side band is known up to this time */
	uint64_t last_round;   /* settled then */
	struct callchain_stats stats;
	struct fp_census census; /* of chains without copies, waits for work left aside */
	/* Told that samples of a process should carry copies, or no longer; NULL: nobody is. */
	void (*choose)(void *ctx, pid_t pid, bool chosen);
	void *choose_ctx;
	bool incomplete;       /* maps have been lost: what is in none may be right */
	int (*give)(void *ctx, const struct sample *sample);
	void *ctx;
};

enum callchain_mode {
	CALLCHAIN_FP,     /* copies are of no use */
	CALLCHAIN_UNWIND, /* frames come from the copies */
	CALLCHAIN_RAW,    /* copies go on as they are */
};

/* CPU time of the processes that unwind, ns; in *gone_ns, that of those that have ended. */
uint64_t callchain__cpu_ns(const struct callchain *callchain, uint64_t *gone_ns);

/* give receives each sample, once; machine is borrowed. 0 or -ENOMEM. */
int callchain__init(struct callchain *callchain, enum callchain_mode mode, struct machine *machine,
		    int (*give)(void *ctx, const struct sample *sample), void *ctx);
void callchain__free(struct callchain *callchain);

/*
 * With CALLCHAIN_UNWIND: forks the process that unwinds, so that it is no target of a capture that
 * has started. max_frames: of a user side. 0 or a negative errno (logged).
 */
int callchain__start(struct callchain *callchain, uint32_t max_frames);

/* A sample of the capture. Gives it now or later. 0 or the negative errno of give. */
int callchain__sample(struct callchain *callchain, const struct sample *sample);

/* An event that the machine has handled. */
void callchain__task(struct callchain *callchain, const struct task_event *event);

/* The side band is complete up to that time. 0 or the negative errno of give. */
int callchain__settled(struct callchain *callchain, uint64_t time);

/* Records of the side band may have been lost. */
void callchain__lost(struct callchain *callchain);

/* The earliest time of the samples that were not given yet; UINT64_MAX: there are none. */
uint64_t callchain__oldest(const struct callchain *callchain);

/*
 * Gives all that is being unwound, after deadline_ms with the frames of frame pointers. progress is
 * told now and then how many samples are left; it may be NULL. 0 or as give.
 */
int callchain__finish(struct callchain *callchain, int deadline_ms,
		      void (*progress)(void *ctx, size_t left), void *ctx);

/* A window has been drained: what ended before it began is forgotten. */
void callchain__round(struct callchain *callchain);

#endif /* DENET_CALLCHAIN_CALLCHAIN_H */
