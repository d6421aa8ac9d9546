/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_PROGRAMS_H
#define DENET_CAPTURE_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/capture.h"
#include "wire.h"

/*
 * The BPF programs of one capture and their maps: the only place that knows the
 * skeleton. All objects die with their descriptors; nothing is pinned.
 */
struct programs;

/*
 * Loads the programs, with the switch-in hook of the given way or, for AUTO, of the first
 * that the kernel takes. NULL on error, with *err set and the cause logged.
 */
struct programs *programs__new(const struct wire_settings *settings, enum capture_way way,
			       size_t nr_targets, int *err);
void programs__delete(struct programs *programs); /* accepts NULL */

enum capture_way programs__way(const struct programs *programs);

/* Whether blocks carry copies of user stacks, which not every kernel and way can give. */
bool programs__copies(const struct programs *programs);

/* Whether blocks of the process carry them, if that is chosen. 0 or a negative errno. */
int programs__choose(struct programs *programs, pid_t pid, bool chosen);

/* Gives a CPU's ring to the programs. 0 or a negative errno. */
int programs__set_ring(struct programs *programs, unsigned int cpu, int fd);

/* The map that takes what CPUs without a ring have to say, see spare.h. Borrowed. */
int programs__spare(const struct programs *programs);

/* Before programs__attach(): a process or thread to record. */
int programs__add_target(struct programs *programs, enum wire_target_kind kind, uint32_t id);

/* The same: a cgroup to record, with all below it. hierarchy is of enum wire_cgroup_hierarchy. */
int programs__add_cgroup(struct programs *programs, uint32_t hierarchy, uint64_t id);

/* Attaches all hooks; births are seen from now on. 0 or a negative errno. */
int programs__attach(struct programs *programs);

/* Receives the records of an iterator: whole ones, back to back. Returns 0 or an errno. */
typedef int (*programs_read_fn)(void *ctx, const void *data, size_t size);

/* Gives every target its storage; fn receives struct wire_task of every task. */
int programs__enlist(struct programs *programs, programs_read_fn fn, void *ctx);

/* The recording begins: *start_ns (CLOCK_MONOTONIC). Who sleeps is stamped with it. */
int programs__begin(struct programs *programs, uint64_t *start_ns);

/*
 * Turns to the other generation and waits until no program runs that still uses the old
 * one, which is returned; a negative errno on failure.
 */
int programs__swap(struct programs *programs);

/* Whether the current generation has sums, or what sums refer to. */
bool programs__has_sums(const struct programs *programs);

/* How many sums the current generation has. */
uint32_t programs__sums(const struct programs *programs);

/* How full the current generation is, in percent of its room for sums or stacks. */
unsigned int programs__filled(const struct programs *programs);

typedef int (*programs_sum_fn)(void *ctx, const struct wire_entry_key *key,
			       const struct wire_entry *entry);

/* Hands each sum of a generation to fn and empties it. 0 or a negative errno. */
int programs__take_sums(struct programs *programs, unsigned int gen, programs_sum_fn fn, void *ctx);

/* From now on blocks that end are clipped to end_ns, and none begins. */
int programs__close(struct programs *programs, uint64_t end_ns);

/* Hands each thread that is still blocked to fn, as wire_block records. */
int programs__report_blocked(struct programs *programs, programs_read_fn fn, void *ctx);

/*
 * A descriptor from which the user frames of blocked threads are read, as wire_user
 * records. Reading sleeps while a process holds its mmap_lock: read it in a child that can
 * be killed. -EOPNOTSUPP where the kernel has no such iterator.
 */
int programs__open_user_frames(struct programs *programs);

/* The process whose memory that reading looks at right now, 0: none. */
pid_t programs__walking(const struct programs *programs);

/* That process is left out from now on. */
int programs__skip_user_frames(struct programs *programs, pid_t pid);

/* Nothing is recorded any more. */
int programs__end(struct programs *programs);

/* The sums of the accounts of all CPUs: of blocks, and of wake-ups. */
int programs__accounts(const struct programs *programs, struct wire_accounts *sum,
		       struct wire_accounts *wakeups);

/*
 * The histogram of a capture that has one: a row for each of WIRE_STATE_MAX states, all CPUs
 * added up. 0 or a negative errno.
 */
int programs__hist(const struct programs *programs, struct wire_hist *rows);

/* From now on: 0 for a period, all blocks count; see capture__set_sampling(). */
void programs__set_sampling(struct programs *programs, uint64_t period_ns, uint64_t threshold_ns);

/*
 * Adds the blocks that each CPU has seen so far to counts, for nr CPUs, and those of them
 * that were kept, on all CPUs, to *kept. 0 or a negative errno.
 */
int programs__seen(const struct programs *programs, uint64_t *counts, size_t nr, uint64_t *kept);

/* What the kernel says of its side. */
struct programs_info {
	uint64_t recursion_misses;
	uint64_t missed_wakeups; /* the same, of the program that sees wake-ups */
	/* The same, of births: two forks can meet on a CPU where tracepoints are preemptible. */
	uint64_t missed_births;
	uint64_t run_ns;
	uint64_t run_count;
	uint64_t map_bytes;
};
int programs__info(const struct programs *programs, struct programs_info *info);

/* The run time of all programs so far, while it was measured. 0 or a negative errno. */
int programs__run_ns(const struct programs *programs, uint64_t *run_ns);

/* A descriptor that becomes readable for good when the last target has died. Borrowed. */
int programs__bell(const struct programs *programs);

/* Births less deaths of targets, as the hooks saw them. */
int64_t programs__targets_alive(const struct programs *programs);

/* How many targets there have been so far. */
uint64_t programs__births(const struct programs *programs);

/*
 * Goes over all tasks: *found is how many of them are targets that live. One that is born
 * meanwhile may be missed. 0 or a negative errno.
 */
int programs__find_targets(struct programs *programs, uint64_t *found);

#endif /* DENET_CAPTURE_PROGRAMS_H */
