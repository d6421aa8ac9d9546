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
#include "unwind/address_space.h"

struct unwind_worker;

/* What became of user stacks, in samples. */
struct chains_stats {
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
struct chains {
	struct space *space;   /* NULL: the worker has it */
	struct unwind_worker *worker; /* NULL: nothing is unwound */
	struct held waiting;   /* for the side band up to their times */
	struct held pending;   /* with the worker, without their copies; in the order in it */
	uint32_t max_frames;
	bool raw;	       /* copies go on as they are */
	uint64_t settled;      /* the side band is known up to this time */
	uint64_t last_round;   /* settled then */
	struct chains_stats stats;
	struct evidence evidence; /* of who needs copies */
	/* Told that samples of a process should carry copies, or no longer; NULL: nobody is. */
	void (*choose)(void *ctx, pid_t pid, bool chosen);
	void *choose_ctx;
	bool incomplete;       /* maps have been lost: what is in none may be right */
	int (*give)(void *ctx, const struct sample *sample);
	void *ctx;
};

enum chains_mode {
	CHAINS_FP,     /* copies are of no use */
	CHAINS_UNWIND, /* frames come from the copies */
	CHAINS_RAW,    /* copies go on as they are */
};

/* give receives each sample, once. 0 or -ENOMEM. */
int chains__init(struct chains *chains, enum chains_mode mode,
		 int (*give)(void *ctx, const struct sample *sample), void *ctx);
void chains__free(struct chains *chains);

/*
 * With CHAINS_UNWIND: forks the process that unwinds, so that it is no target of a capture that
 * has started. max_frames: of a user side. 0 or a negative errno (logged).
 */
int chains__start(struct chains *chains, uint32_t max_frames);

/* A sample of the capture. Gives it now or later. 0 or the negative errno of give. */
int chains__sample(struct chains *chains, const struct sample *sample);

/* An executable mapping that was there before the recording. 0 or -ENOMEM. */
int chains__map(struct chains *chains, pid_t pid, const struct space_map *map);

/* A record of the kernel's side band, which the writer has taken. 0 or -ENOMEM. */
int chains__sideband(struct chains *chains, const void *event, size_t size, uint64_t time);

/* The side band is complete up to that time. 0 or the negative errno of give. */
int chains__settled(struct chains *chains, uint64_t time);

/* Records of the side band may have been lost. */
void chains__lost(struct chains *chains);

/* The earliest time of the samples that were not given yet; UINT64_MAX: there are none. */
uint64_t chains__oldest(const struct chains *chains);

/* Samples that are being unwound. */
size_t chains__pending(const struct chains *chains);

/* Gives what has been unwound; waits for that, timeout_ms at most. 0 or as give. */
int chains__poll(struct chains *chains, int timeout_ms);

/* What is still being unwound is given with the frames of frame pointers. 0 or as give. */
int chains__abandon(struct chains *chains);

/* A window has been drained: what ended before it began is forgotten. */
void chains__round(struct chains *chains);

#endif /* DENET_CALLCHAIN_CALLCHAIN_H */
