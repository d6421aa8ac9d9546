/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TARGET_FILTER_H
#define DENET_BPF_TARGET_FILTER_H

#include "capture/capture.h"
#include "bpf/target_maps.h"

/* Whom to record, from the options to the programs' settings and their roster. */

/* What must be known when the programs are loaded. 0 or a negative errno (logged). */
int target_filter__settle(struct wire_settings *settings, const struct capture_options *options);

/* How many entries target_filter__add() makes in the map of targets. */
size_t target_filter__targets(const struct capture_options *options);

/* Puts processes, threads, users and cgroups on the roster. 0 or a negative errno. */
int target_filter__add(const struct capture_options *options,
		       const struct target_maps *target_maps);

#endif /* DENET_BPF_TARGET_FILTER_H */
