/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_INTERNAL_H
#define DENET_CAPTURE_INTERNAL_H

#include "base/buffer.h"
#include "capture/alive.h"
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

/* How a block was delivered: idle blocks are subtracted from that counter. */
enum delivery {
	DELIVERY_DIRECT,
	DELIVERY_SUM,
	DELIVERY_IN_FLIGHT,
	DELIVERY_MAX,
};

/* The previous reading of capture__cost(). */
struct cost {
	int stats_fd; /* keeps the kernel's statistics on; -1: off */
	bool known;   /* the previous reading is valid */
	uint64_t runs;
	uint64_t run_ns;
	struct accounts_load load;
	uint64_t *seen; /* for each possible CPU, then the same for the next reading */
	size_t nr_cpus;
};

/* Internal to the files of this room. */
struct capture {
	struct capture_options options;
	struct capture_sink sink;
	struct offcpu *offcpu;
	struct offcpu_maps *maps; /* of offcpu */
	struct rings *rings;
	struct overflow_ring *overflow_ring; /* of CPUs without a ring of their own */
	struct tracepoint_rings *tracepoints; /* NULL: none are recorded */
	struct traced_threads traced;	      /* whose hits count */
	pid_t own_pid;
	struct sideband_filter sideband_filter;
	struct ordered_events ordered_events; /* of the side band */
	struct kernel_chain *kernel_chain; /* NULL: frames are not cut */
	struct stacks *stacks[2];	/* of the two generations */
	struct reason_store reasons[2]; /* of the two generations */
	struct ksyms_cache ksyms;
	struct idle_table idle_rules;	/* of waits that go apart, where none are left out */
	struct wait_places places;	/* functions of kernel chains that identify waits */
	struct reason reason;		/* of the current block */
	struct user_tables user_tables;
	struct user_stacks user_stacks; /* until their blocks arrive */
	struct capture_tally idle[DELIVERY_MAX]; /* left out, by their delivery */
	struct buffer tasks;		/* struct capture_task */
	uint64_t tasks_seen;		/* a time before that */
	uint64_t next_modules;		/* when modules may be looked at again */
	struct capture_stats stats;	/* the part counted in user space */
	struct waiting_threads waiting;
	struct running running;		/* running time of threads, with on-CPU samples */
	uint64_t in_flight_queued_ns;	/* of blocks in flight, before filters */
	struct capture_tally blocked;	/* threads in flight at the end, before filters */
	struct buffer aligned;		/* a record, copied to be 8-aligned */
	bool all_tasks; /* the side band is of all: a waker may be any task */
	struct cost cost;
	struct alive alive;
	bool started;
	bool begun; /* blocks are recorded */
	bool stopped;
};

void cost__init(struct cost *cost);
void cost__free(struct cost *cost);

/* Passes a sample to the sink, with its kernel chain cut, unless it is idle. */
int capture__deliver(struct capture *capture, struct sample *sample, enum delivery delivery);

/* Makes the state of targets whose births were missed, if some were. Never fails. */
void capture__adopt_strays(struct capture *capture);

/* Reads the rings to their ends. Number of records or a negative errno. */
int capture__read_rings(struct capture *capture);

/* Passes the side band before a time, now complete, to the sink. 0 or a negative errno. */
int capture__give_sideband(struct capture *capture, uint64_t until);

/* Gives CPUs that came online a ring. 0 or a negative errno. */
int capture__update_rings(struct capture *capture);

/* Takes wire_run records of an iterator; a task_iter_fn, of the capture. */
int capture__take_runs(void *ctx, const void *data, size_t size);

/* Reports threads that are still blocked, with the user frames available by deadline_ms. */
int capture__report_blocked(struct capture *capture, int deadline_ms);

#endif /* DENET_CAPTURE_INTERNAL_H */
