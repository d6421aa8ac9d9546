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
 * The processes and threads of a machine: who they are, who forked them, what they are called and
 * what they have mapped, over time. All that is known of them comes by machine__handle(). Samples
 * come later than what happened to their task, so what has ended stays until machine__forget().
 * Not thread-safe.
 *
 * The kernel does not tell when something is unmapped: what a library left behind stays until
 * other code is mapped there.
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
	pid_t ptid;    /* that it was made by; 0: not known */
	uint64_t born; /* 0: before the recording */
	uint64_t died; /* UINT64_MAX: it lives */
	struct process *process;
	struct comm *comm;     /* the latest; NULL: not known */
	struct thread *before; /* that had its tid before; NULL: none is known */
	struct thread *next;   /* of the process */
};

struct process {
	pid_t pid;
	pid_t parent;  /* that it was forked by; 0: not known */
	uint64_t born; /* 0: before the recording */
	uint64_t died; /* with its last thread; UINT64_MAX: it lives */
	size_t nr_threads; /* that live */
	struct thread *threads;
	struct address_space space;
	struct process *before; /* that had its pid before; NULL: none is known */

	/* Handed down to children. */
	bool left_out;	   /* of the recording */
	bool wanted;	   /* record/sink.h: its events are in the file whatever it does */
	unsigned int floods; /* capture/sideband_filter.h: in so many seconds it told too much */
	uint64_t fp_quality; /* callchain/fp_quality.h */

	bool told;		 /* record/sink.h: its events are in the file from now on */
	unsigned int sampled_in; /* symbol/dso_table.h: the file that has samples of it; 0: none */
	uint64_t told_since;	 /* capture/sideband_filter.h: so many records since then */
	unsigned int nr_told; /* names; a mapping counts as several */

	/* The machine's own. */
	struct process *next_aging;
	bool aging; /* something of it is to be forgotten one day */
};

/* NULL: no memory. */
struct machine *machine__new(void);
void machine__delete(struct machine *machine); /* accepts NULL */

/*
 * Something happened. Events of one process must come in the order of their times, but for those
 * of time 0. 0; 1 for a mapping that is known already; -ENOMEM.
 */
int machine__handle(struct machine *machine, const struct task_event *event);

/*
 * No sample from before that time will be asked for any more: what had ended by then is
 * forgotten. The first thread of a process is known while the process is.
 */
void machine__forget(struct machine *machine, uint64_t before);

/*
 * Whether so much has ended since the last machine__forget() that it should be called soon,
 * so that memory stays bounded whatever comes and goes.
 */
bool machine__wants_forget(const struct machine *machine);

/* The process that has the pid now, or had it last, and at a time; NULL: none is known. */
struct process *machine__process(const struct machine *machine, pid_t pid);
struct process *machine__process_at(const struct machine *machine, pid_t pid, uint64_t time);

/* The same of a thread. */
struct thread *machine__thread(const struct machine *machine, pid_t tid);
struct thread *machine__thread_at(const struct machine *machine, pid_t tid, uint64_t time);

/* What a thread was called at a time; NULL: not known. */
const char *thread__comm_at(const struct thread *thread, uint64_t time);

/*
 * The mappings of a process at a time, for maps__find() with the same time. NULL: nothing is
 * known. process may be NULL. Valid until the next change.
 */
const struct maps *process__maps_at(const struct process *process, uint64_t time);

/* Whether a process, which may be NULL, is known and has not ended. */
bool process__lives(const struct process *process);

/*
 * Calls fn for each thread or process, by ascending ids; of those that had an id one after the
 * other, for the last one. Stops at fn's first result other than 0, which is returned; -ENOMEM.
 */
int machine__each_thread(const struct machine *machine,
			 int (*fn)(void *ctx, const struct thread *thread), void *ctx);
int machine__each_process(const struct machine *machine,
			  int (*fn)(void *ctx, const struct process *process), void *ctx);

/* The kernel and its modules, in the order in which they were told. */
const struct task_map *machine__kernel_maps(const struct machine *machine, size_t *nr);

/* Mappings that were not kept for want of room. */
uint64_t machine__refused(const struct machine *machine);

/* Bytes that it takes, about. */
uint64_t machine__bytes(const struct machine *machine);

#endif /* DENET_MACHINE_H */
