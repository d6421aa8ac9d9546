/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_STAT_H
#define DENET_BPF_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/bpf_stats.h"
#include "bpf/target_maps.h"
#include "bpf/task_iter.h"
#include "stat_wire.h"

/* The programs of bpf_skel/stat.bpf.c, which count in the kernel, and their maps. */
struct stat_programs;

/* Fixed when the programs are loaded. */
struct stat_programs_config {
	const struct wire_settings *settings; /* borrowed until stat_programs__new() returns */
	size_t nr_targets; /* entries that target_maps__add() is going to make */
	bool calls;	   /* count system calls, */
	bool call_times;   /* with their times, */
	bool locks;	   /* waits for futexes, */
	bool io;	   /* requests of block devices, */
	bool sockets;	   /* and waits for connections */
	const __u8 *classes;	  /* WIRE_MAX_CALLS: enum wire_call by number */
	const __u8 *socket_calls; /* WIRE_MAX_CALLS: enum stat_wire_wait by number */
	uint32_t sigreturn; /* the number of rt_sigreturn, which its return does not have */
	uint32_t max_ended; /* processes and names of ended threads to keep; 0: the default */
	const __u8 *typed; /* WIRE_MAX_CALLS: calls that are told apart by their file's type */
};

/*
 * Loads the programs. On error NULL, with a negative errno in *err. The cause is not logged: there
 * may be another source of figures. stat_programs__explain() tells it.
 */
struct stat_programs *stat_programs__new(const struct stat_programs_config *config, int *err);
void stat_programs__delete(struct stat_programs *programs); /* accepts NULL */

/* The cause of an error of stat_programs__new(), and the remedy. Returns buf. */
char *stat_programs__explain(int err, char *buf, size_t size);

/* To be filled in before stat_programs__attach(). Valid as long as the programs. */
const struct target_maps *stat_programs__targets(const struct stat_programs *programs);

/* Attaches all hooks; births are seen from here on. 0 or a negative errno (logged). */
int stat_programs__attach(struct stat_programs *programs);

/* Makes the storage of every target; fn receives struct wire_task of every task. */
int stat_programs__enlist(struct stat_programs *programs, task_iter_fn fn, void *ctx);

/* Begins the measurement: *start_ns is the time (CLOCK_MONOTONIC) from which on all counts. */
int stat_programs__begin(struct stat_programs *programs, uint64_t *start_ns);

/*
 * The process of that pid is about to be released: it counts from its next exec on, and always has
 * room for its ended threads.
 */
void stat_programs__release(struct stat_programs *programs, pid_t pid);

/* Ends it: all figures stay those of *end_ns. 0 or a negative errno. */
int stat_programs__end(struct stat_programs *programs, uint64_t *end_ns);

/*
 * Passes struct stat_wire_thread of each target that has not ended to fn, with its sums up to now
 * or to the end. 0, fn's error or a negative errno.
 */
int stat_programs__read_threads(struct stat_programs *programs, task_iter_fn fn, void *ctx);

/*
 * The thread that holds the mutex for which the thread of an incarnation has waited since before
 * the measurement. Only with locks. 0 or a negative errno.
 */
int stat_programs__set_holder(struct stat_programs *programs, uint64_t incarnation, uint32_t tid);

/* The same for threads that have ended, by process and name. */
typedef int (*stat_ended_fn)(void *ctx, const struct stat_wire_ended_key *key,
			     const struct stat_wire_ended *ended);
int stat_programs__read_ended(const struct stat_programs *programs, stat_ended_fn fn, void *ctx);

/* The call of that index; NULL: the end of a list. Changes while its thread runs. */
const struct stat_wire_call *stat_programs__call(const struct stat_programs *programs,
						 uint32_t index);

/* Pass the sums of objects to fn. 0, fn's error or a negative errno. */
typedef int (*stat_lock_fn)(void *ctx, const struct stat_wire_object *key,
			    const struct stat_wire_lock *lock);
int stat_programs__read_locks(const struct stat_programs *programs, stat_lock_fn fn, void *ctx);
typedef int (*stat_socket_fn)(void *ctx, const struct stat_wire_object *key,
			      const struct stat_wire_socket *socket);
int stat_programs__read_sockets(const struct stat_programs *programs, stat_socket_fn fn,
				void *ctx);
typedef int (*stat_io_fn)(void *ctx, const struct stat_wire_io_key *key,
			  const struct stat_wire_io *io);
int stat_programs__read_io(const struct stat_programs *programs, stat_io_fn fn, void *ctx);

/* The same for waits in calls, by thread, call and file. */
typedef int (*stat_file_fn)(void *ctx, const struct stat_wire_file_key *key,
			    const struct stat_wire_file_wait *file);
int stat_programs__read_files(const struct stat_programs *programs, stat_file_fn fn, void *ctx);

/* What found no room so far, and how many threads have ended. */
struct stat_wire_losses stat_programs__losses(const struct stat_programs *programs);

/* Blocks and births that the programs did not see. 0 or a negative errno. */
int stat_programs__stats(const struct stat_programs *programs, struct bpf_stats *stats,
			 uint64_t *unseen_switches);

#endif /* DENET_BPF_STAT_H */
