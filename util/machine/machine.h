/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_H
#define DENET_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/address_space.h"
#include "machine/task_event.h"

/*
 * The processes and threads of a machine over time: their ids, parents, names and mappings. All of
 * it comes from machine__handle(). Samples arrive later than the events of their task, so tasks
 * that have ended are kept until machine__forget(). Not thread-safe.
 *
 * The kernel does not report munmap(): the mapping of a library that was unloaded stays until other
 * code is mapped there.
 */
struct machine;

/* A name, from a time on. */
struct comm {
	uint64_t since;
	char name[16];
	struct comm *before;
};

struct thread {
	pid_t tid;
	pid_t ptid;    /* its creator; 0: not known */
	uint64_t born; /* 0: before the recording */
	uint64_t died; /* UINT64_MAX: alive */
	struct process *process;
	struct comm *comm;     /* the latest; NULL: not known */
	struct thread *before; /* former thread of this tid; NULL: none known */
	struct thread *next;   /* of the process */
};

/*
 * The view of the file systems that a process has, a number of mount_ns__of(). Other numbers than
 * these: the process has a mount namespace or a root of its own, with other files under the same
 * names. Children inherit it. A process that execs may have left our view before, as containers are
 * started: its view is unknown until it is set again.
 */
#define MACHINE_VIEW_UNKNOWN 0
#define MACHINE_VIEW_OURS 1

struct process {
	pid_t pid;
	pid_t parent;  /* 0: not known */
	uint64_t born; /* 0: before the recording */
	uint64_t died; /* with its last thread; UINT64_MAX: alive */
	size_t nr_threads; /* alive */
	struct thread *threads;
	struct address_space space;
	struct process *before; /* former process of this pid; NULL: none known */

	/* Inherited by children. */
	bool left_out;	   /* not recorded */
	bool wanted;	   /* of a target; set by capture/capture.c and record/sink.c */
	unsigned int floods; /* capture/sideband_filter.h: level of its rate limit */
	uint64_t fp_quality; /* callchain/fp_quality.h */
	uint64_t view;	     /* MACHINE_VIEW_*, see symbol/mount_ns.h */
	pid_t eldest;	     /* the eldest ancestor with that view, or itself; 0: not known */

	uint64_t alive;		 /* a time at which it lived; 0: none is known */
	bool told;		 /* record/sink.h: its events are in the file from now on */
	unsigned int sampled_in; /* symbol/dso_table.h: the file that has samples of it; 0: none */
	uint64_t sampled_since;	 /* the earliest time of these */
	uint64_t told_since;	 /* capture/sideband_filter.h: begin of the second of nr_told */
	unsigned int nr_told; /* names passed on since; a mapping counts as several */

	/* The machine's own. */
	struct process *next_aging;
	bool aging; /* on the machine's list for machine__forget() */
};

/* Returns NULL if there is no memory. */
struct machine *machine__new(void);
void machine__delete(struct machine *machine); /* accepts NULL */

/*
 * Handles an event. Events of one process must come in the order of their times, but for those of
 * time 0. 0; 1 for a mapping that is known already; -ENOMEM.
 */
int machine__handle(struct machine *machine, const struct task_event *event);

/*
 * Drops all that had ended by then: no later call asks for an earlier time. The first thread of a
 * process is kept while the process is.
 */
void machine__forget(struct machine *machine, uint64_t before);

/*
 * True if so much has ended since the last machine__forget() that it should be called soon, to
 * bound memory.
 */
bool machine__wants_forget(const struct machine *machine);

/* The current or last process of a pid, and that of a time; NULL: none known. */
struct process *machine__process(const struct machine *machine, pid_t pid);
struct process *machine__process_at(const struct machine *machine, pid_t pid, uint64_t time);

/* The same for a thread. */
struct thread *machine__thread(const struct machine *machine, pid_t tid);
struct thread *machine__thread_at(const struct machine *machine, pid_t tid, uint64_t time);

/* The name of a thread at a time; NULL: not known. */
const char *thread__comm_at(const struct thread *thread, uint64_t time);

/*
 * The mappings of a process at a time, for maps__find() with the same time. NULL: none known.
 * process may be NULL. Valid until the next change.
 */
const struct maps *process__maps_at(const struct process *process, uint64_t time);

/* Whether a process, which may be NULL, is known and has not ended. */
bool process__lives(const struct process *process);

/*
 * Calls fn for each thread or process, by ascending ids; of several that had one id, for the last.
 * Stops at fn's first result other than 0, which is returned; -ENOMEM.
 */
int machine__each_thread(const struct machine *machine,
			 int (*fn)(void *ctx, const struct thread *thread), void *ctx);
int machine__each_process(const struct machine *machine,
			  int (*fn)(void *ctx, const struct process *process), void *ctx);

/* The kernel and its modules, in the order of their events. */
const struct task_map *machine__kernel_maps(const struct machine *machine, size_t *nr);

/* Number of mappings dropped for want of room. */
uint64_t machine__refused(const struct machine *machine);

/* Approximate memory use in bytes. */
uint64_t machine__bytes(const struct machine *machine);

#endif /* DENET_MACHINE_H */
