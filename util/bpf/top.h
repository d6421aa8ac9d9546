/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TOP_H
#define DENET_BPF_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/target_maps.h"
#include "bpf/task_iter.h"
#include "bpf/track.h"
#include "top_wire.h"

/* The sampler of bpf_skel/top.bpf.c: nothing is attached, and between passes nothing runs. */
struct top_programs;

/* Fixed when the program is loaded. Borrowed until top_programs__new() returns. */
struct top_programs_config {
	const struct wire_settings *settings;
	const __u8 *classes; /* WIRE_MAX_CALLS: enum wire_call by number, with the idle ones */
	size_t nr_targets;   /* entries that target_maps__add() is going to make */
	struct top_wire_settings top;
	const __u8 *calls;	  /* WIRE_MAX_CALLS: with top.by_call, those to keep */
	const char *const *comms; /* with top.by_comm: the names to keep, nr_comms of them */
	size_t nr_comms;	  /* at most TOP_WIRE_MAX_COMMS */
	const struct track *track; /* with top.tracked */
};

/* Loads the sampler. On error NULL, with a negative errno in *err (logged, with the remedy). */
struct top_programs *top_programs__new(const struct top_programs_config *config, int *err);
void top_programs__delete(struct top_programs *programs); /* accepts NULL */

/* For target_maps__add() and target_maps__add_cgroup() alone. Valid as long as the programs. */
const struct target_maps *top_programs__targets(const struct top_programs *programs);

/*
 * Whether the passes that come take stacks. Kernel stacks that were passed on in this generation
 * are not passed on again while their thread does not run.
 */
void top_programs__set_stacks(struct top_programs *programs, bool wanted, uint32_t generation);

/*
 * Looks at all threads once: fn receives their records, see top_wire.h, and *counts how many there
 * were. 0, fn's error or a negative errno.
 */
int top_programs__pass(struct top_programs *programs, task_iter_fn fn, void *ctx,
		       struct top_wire_counts *counts);

/* Tells the tracker which threads are targets, without looking at them. 0 or a negative errno. */
int top_programs__rehearse(struct top_programs *programs);

#endif /* DENET_BPF_TOP_H */
