/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SINK_H
#define DENET_RECORD_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "callchain/callchain.h"
#include "machine/deferred_exit.h"
#include "machine/leader_exit.h"
#include "session/sampling.h"

struct dso_table;
struct snapshot;
struct status;
struct writer;

/* Where a capture delivers when it is recorded: the file, and the accounts of it. */
struct sink {
	struct writer *writer; /* set before the first poll; borrowed */
	struct dso_table *dso_table;     /* NULL: nobody wants build-ids; borrowed */
	struct snapshot *snapshot;     /* NULL: there is one file only; borrowed */
	bool idle_apart;       /* threads that never ran go to an event of their own */
	bool split;	       /* time that waited for a CPU goes to runqueue-time */
	bool reasons;	       /* samples say what they waited for */
	uint64_t ns;	       /* off the CPU: of offcpu-time and, with split, runqueue-time */
	uint64_t runqueue_ns;  /* of that, in runqueue-time */
	uint64_t samples;      /* blocks and sums; split ones count once */
	uint64_t still_blocked; /* of these samples */
	struct sampling_level level; /* in force, for the counts */
	struct sampling_counts counts; /* of blocks that ended, and of wake-ups */
	struct capture_tally idle; /* samples of offcpu-idle */
	struct capture_tally wakeups; /* samples of wakeup-time */
	struct leader_exits leader_exits;	   /* whose processes may outlive them */
	struct deferred_exit deferred_exit;	   /* EXIT records that are held back */
	uint64_t left_out;	   /* records that made no sense */
	uint64_t latest;	   /* the latest time of all that was delivered */
	uint64_t latest_round;	   /* that, when the last FINISHED_ROUND was written */
	struct callchain callchain;
};

/* Makes capture_sink deliver into sink. 0 or -ENOMEM. */
int sink__init(struct sink *sink, struct capture_sink *capture_sink, enum callchain_mode mode);

/*
 * Samples that are still being unwound come to their end, or have the frames of frame pointers
 * after deadline_ms; status, which may be NULL, tells how it goes. 0 or a negative errno.
 */
int sink__finish_callchains(struct sink *sink, int deadline_ms, struct status *status);

/* Nothing more comes: writes what is held back. 0 or a negative errno. */
int sink__finish(struct sink *sink);

/* Frees what the sink owns, not the sink. */
void sink__free(struct sink *sink);

#endif /* DENET_RECORD_SINK_H */
