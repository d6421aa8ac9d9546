/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SINK_H
#define DENET_RECORD_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"
#include "capture/capture.h"
#include "callchain/callchain.h"
#include "callchain/chain_stats.h"
#include "output/perfdata/sample_events.h"
#include "machine/deferred_exit.h"
#include "record/wait_names.h"
#include "record/wait_stats.h"
#include "session/sampling.h"

struct dso_table;
struct machine;
struct status;
struct writer;

/* The consumer of a capture that is recorded: writes the file, and keeps statistics of it. */
struct sink {
	struct writer *writer;              /* see sink__set_writer() */
	struct sample_events events;        /* turns samples into events of the file */
	struct dso_table *dso_table;        /* NULL: no build-ids; borrowed */
	struct machine *machine;            /* borrowed */
	struct sampling_level level;        /* the current level, for the counts */
	struct sampling_counts counts;      /* of blocks that ended, and of wake-ups */
	struct deferred_exit deferred_exit; /* EXIT records to be written later */
	/*
	 * With selective, only the events of processes that are targets or have samples are
	 * written: of the latter from their first sample on, after their state in the machine.
	 */
	bool selective;
	struct idmap told_pids; /* pids of processes that have been in the file */
	uint64_t latest;        /* the latest time delivered */
	uint64_t latest_round;  /* the latest time when FINISHED_ROUND was last written */
	struct callchain callchain;
	struct chain_stats chain_stats;
	struct wait_names wait_names;
	struct wait_stats wait_stats; /* of offcpu-time */
};

/* Makes capture_sink deliver into sink; machine is borrowed. 0 or -ENOMEM. */
int sink__init(struct sink *sink, struct machine *machine, struct capture_sink *capture_sink,
	       enum callchain_mode mode);

/* Takes an event of time 0, from /proc or the task iterator. 0 or a negative errno. */
int sink__synthesized(struct sink *sink, const struct task_event *event);

/* With selective: writes the events of a process of the machine, and of its children. */
void sink__want(struct sink *sink, pid_t pid);

/* True if the events of a process go to the file. */
bool sink__tells(const struct sink *sink, pid_t pid);

/* Sets the current file, before the first poll or between two. Borrowed. */
void sink__set_writer(struct sink *sink, struct writer *writer);

/*
 * Waits until pending samples are unwound; after deadline_ms they get the frames by frame pointers.
 * status, which may be NULL, shows the progress. 0 or a negative errno.
 */
int sink__finish_callchains(struct sink *sink, int deadline_ms, struct status *status);

/* At the end: writes the deferred EXIT records. 0 or a negative errno. */
int sink__finish(struct sink *sink);

/* Frees what the sink owns, not the sink. */
void sink__free(struct sink *sink);

#endif /* DENET_RECORD_SINK_H */
