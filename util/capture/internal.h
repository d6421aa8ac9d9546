/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_INTERNAL_H
#define DENET_CAPTURE_INTERNAL_H

#include "base/buffer.h"
#include "capture/capture.h"
#include "capture/user_stacks.h"
#include "capture/user_tables.h"
#include "capture/idle.h"
#include "capture/ksyms_cache.h"
#include "bpf/offcpu.h"
#include "capture/ordered_events.h"
#include "capture/reason.h"
#include "capture/ring.h"
#include "capture/running.h"
#include "capture/sideband_filter.h"
#include "capture/overflow_ring.h"
#include "capture/stacks.h"
#include "capture/traced_threads.h"
#include "capture/tracepoint_rings.h"
#include "capture/kernel_chain.h"
#include "capture/wait_place.h"
#include "capture/waiting_threads.h"

/* How a block was delivered: idle blocks are subtracted from the counter of their delivery. */
enum delivery {
	DELIVERY_DIRECT,
	DELIVERY_SUM,
	DELIVERY_IN_FLIGHT,
	DELIVERY_MAX,
};

/* The count of the targets, and when they are to be looked for if it stands still. */
struct alive {
	int64_t count;
	uint64_t pause;
	uint64_t next;
	bool ended; /* none is left, whatever the count */
	uint64_t strays_pause;
	uint64_t strays_next;
};

/* What capture__cost() compares with. */
struct cost {
	int stats_fd; /* keeps the kernel's statistics on; -1: off */
	bool known;   /* the rest was filled in */
	uint64_t runs;
	uint64_t run_ns;
	struct accounts_load load;
	uint64_t *seen; /* for each possible CPU, then as many for the next reading */
	size_t nr_cpus;
};

/* Shared by the files of this room, and by no others. */
struct capture {
	struct capture_options options;
	struct capture_sink sink;
	struct offcpu *offcpu;
	struct offcpu_maps *maps; /* of offcpu */
	struct rings *rings;
	struct overflow_ring *overflow_ring; /* of the CPUs that have no ring yet */
	struct tracepoint_rings *tracepoints; /* NULL: none are recorded */
	struct traced_threads traced;	      /* whose hits count */
	pid_t own_pid;
	struct sideband_filter sideband_filter;
	struct ordered_events ordered_events; /* of the side band */
	struct kernel_chain *kernel_chain; /* NULL: frames are left as they are */
	struct stacks *stacks[2];	/* of the two generations */
	struct reason_store reasons[2]; /* of the two generations */
	struct ksyms_cache ksyms;
	struct idle_table idle_rules;	/* of waits that go apart, where none are left out */
	struct wait_places places;	/* what kernel chains tell of waits */
	struct reason reason;		/* of the block that is delivered */
	struct user_tables user_tables;
	struct user_stacks user_stacks; /* whose blocks have not come yet */
	struct capture_tally idle[DELIVERY_MAX]; /* left out, by their delivery */
	struct buffer tasks;		/* struct capture_task */
	uint64_t tasks_seen;		/* since then */
	struct capture_stats stats;	/* what user space counts */
	struct waiting_threads waiting;
	struct running running;		/* of threads, where on-CPU samples are taken */
	uint64_t in_flight_queued_ns;	/* of blocks in flight, before filters */
	struct capture_tally blocked;	/* threads in flight at the end, before filters */
	struct buffer aligned;		/* a record, moved to where u64 may be read */
	bool all_tasks; /* the side band is of all: a waker may be any task */
	struct cost cost;
	struct alive alive;
	bool started;
	bool begun; /* blocks are recorded */
	bool stopped;
};

void cost__init(struct cost *cost);
void cost__free(struct cost *cost);

/* Hands a sample to the sink, its kernel chain cut, unless it is idle. */
int capture__deliver(struct capture *capture, struct sample *sample, enum delivery delivery);

/* Gives targets their state whose birth was not shown, if one was seen. Never fails. */
void capture__adopt_strays(struct capture *capture);

/* Reads the rings to their ends. Number of records or a negative errno. */
int capture__read_rings(struct capture *capture);

/*
 * Gives the sink the side band up to a time, before which nothing more can come. 0 or a
 * negative errno.
 */
int capture__give_sideband(struct capture *capture, uint64_t until);

/* Gives CPUs that came online a ring. 0 or a negative errno. */
int capture__update_rings(struct capture *capture);

/* Takes wire_run records of an iterator; a task_iter_fn, of the capture. */
int capture__take_runs(void *ctx, const void *data, size_t size);

/* Reports threads that have not come back; their user frames by deadline_ms. */
int capture__report_blocked(struct capture *capture, int deadline_ms);

#endif /* DENET_CAPTURE_INTERNAL_H */
