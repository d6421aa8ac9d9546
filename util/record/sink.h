/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SINK_H
#define DENET_RECORD_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"
#include "capture/capture.h"
#include "callchain/callchain.h"
#include "output/perfdata/sample_events.h"
#include "machine/deferred_exit.h"
#include "record/wait_census.h"
#include "record/wait_names.h"
#include "session/sampling.h"

struct dso_table;
struct machine;
struct status;
struct writer;

/* Where a capture delivers when it is recorded: the file, and the accounts of it. */
struct sink {
	struct writer *writer; /* see sink__set_writer() */
	struct sample_events events; /* what samples become in the file */
	struct dso_table *dso_table;     /* NULL: nobody wants build-ids; borrowed */
	struct machine *machine; /* borrowed */
	struct sampling_level level; /* in force, for the counts */
	struct sampling_counts counts; /* of blocks that ended, and of wake-ups */
	struct deferred_exit deferred_exit;	   /* EXIT records that are held back */
	/*
	 * With selective, only the events of processes that are wanted or have samples are
	 * written: those of others from their first sample on, with what the machine knows.
	 */
	bool selective;
	struct idmap told_pids; /* of processes that have been in the file */
	uint64_t latest;	   /* the latest time of all that was delivered */
	uint64_t latest_round;	   /* that, when the last FINISHED_ROUND was written */
	struct callchain callchain;
	struct wait_names wait_names;
	struct wait_census wait_census; /* of offcpu-time */
};

/* Makes capture_sink deliver into sink; machine is borrowed. 0 or -ENOMEM. */
int sink__init(struct sink *sink, struct machine *machine, struct capture_sink *capture_sink,
	       enum callchain_mode mode);

/* An event of time 0, made of what /proc and the task iterator tell. 0 or a negative errno. */
int sink__synthesized(struct sink *sink, const struct task_event *event);

/* With selective: the events of a process of the machine, and of its children, are written. */
void sink__want(struct sink *sink, pid_t pid);

/* Whether the file has, or is to have, what is known of a process. */
bool sink__tells(const struct sink *sink, pid_t pid);

/* The file from now on, before the first poll or between two. Borrowed. */
void sink__set_writer(struct sink *sink, struct writer *writer);

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
