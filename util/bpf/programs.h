/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_PROGRAMS_H
#define DENET_BPF_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/capture.h"
#include "bpf/window_maps.h"
#include "bpf/task_iter.h"
#include "bpf/target_maps.h"
#include "bpf/blocked_iter.h"
#include "bpf/bpf_stats.h"
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
struct programs *programs__new(const struct wire_settings *settings, enum attach_hook hook,
			       size_t nr_targets, int *err);
void programs__delete(struct programs *programs); /* accepts NULL */

enum attach_hook programs__attach_hook(const struct programs *programs);

/* Whether blocks carry copies of user stacks, which not every kernel and way can give. */
bool programs__copies(const struct programs *programs);

/* Whether blocks of the process carry them, if that is chosen. 0 or a negative errno. */
int programs__choose(struct programs *programs, pid_t pid, bool chosen);

/* Gives a CPU's ring to the programs. 0 or a negative errno. */
int programs__set_ring(struct programs *programs, unsigned int cpu, int fd);

/* The map that takes what CPUs without a ring have to say, see spare.h. Borrowed. */
int programs__overflow_ring(const struct programs *programs);

/* The targets: to be filled in before programs__attach(). Borrowed. */
const struct target_maps *programs__target_maps(const struct programs *programs);

/* Attaches all hooks; births are seen from now on. 0 or a negative errno. */
int programs__attach(struct programs *programs);

/* Gives every target its storage; fn receives struct wire_task of every task. */
int programs__enlist(struct programs *programs, task_iter_fn fn, void *ctx);

/* The recording begins: *start_ns (CLOCK_MONOTONIC). Who sleeps is stamped with it. */
int programs__begin(struct programs *programs, uint64_t *start_ns);

/* The generations of sums, whose variables and maps are the programs'. Borrowed. */
struct window_maps *programs__window_maps(struct programs *programs);

/* From now on blocks that end are clipped to end_ns, and none begins. */
int programs__close(struct programs *programs, uint64_t end_ns);

/* The threads that are still blocked. Borrowed. */
struct blocked_iter *programs__blocked_iter(struct programs *programs);

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

/* What the programs and their maps take, and what was missed. 0 or a negative errno. */
int programs__bpf_stats(const struct programs *programs, struct bpf_stats *bpf_stats);

/* The run time of all programs so far, while it was measured. 0 or a negative errno. */
int programs__run_ns(const struct programs *programs, uint64_t *run_ns);

#endif /* DENET_BPF_PROGRAMS_H */
