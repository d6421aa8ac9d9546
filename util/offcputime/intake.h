/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OFFCPUTIME_INTAKE_H
#define DENET_OFFCPUTIME_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "callchain/callchain.h"
#include "callchain/chain_stats.h"
#include "callchain/sample_queue.h"
#include "capture/capture.h"
#include "profile/profile.h"

/* Threads that were blocked all the time, and how long. */
struct intake_never_ran {
	uint64_t threads;
	uint64_t ns;
};

/* Where a capture delivers when no file is made: a profile. */
struct intake {
	struct machine *machine; /* borrowed */
	struct callchain callchain;
	struct chain_stats chain_stats; /* of all samples that went to a profile */
	struct sample_queue early; /* whose thread may still get its name */
	struct profile *profile; /* samples go there; borrowed, and may change between two */
	bool leave_out_never_ran;
	/*
	 * COMMAND, and when it began: at its exec, which is not before it was let go. What it was
	 * blocked for until then is left out. 0: there is none.
	 */
	pid_t held;
	uint64_t held_until;
	bool has_execed;
	struct intake_never_ran left_out;
};

/* Makes capture_sink deliver into intake. machine is borrowed. 0 or -ENOMEM. */
int intake__init(struct intake *intake, struct machine *machine, struct capture_sink *capture_sink,
		 enum callchain_mode mode);

/* An event of time 0, made of what /proc and the task iterator tell. 0 or a negative errno. */
int intake__existing(struct intake *intake, const struct task_event *event);

/*
 * After the end of the capture: samples that are still being unwound come to their end, or have
 * the frames of frame pointers after deadline_ms. 0 or a negative errno.
 */
int intake__finish(struct intake *intake, int deadline_ms);

/* Frees what the intake owns, not the intake. */
void intake__free(struct intake *intake);

#endif /* DENET_OFFCPUTIME_INTAKE_H */
