/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TARGET_FILTER_H
#define DENET_BPF_TARGET_FILTER_H

#include "capture/capture.h"
#include "bpf/target_maps.h"

/* Whom to record, from the options to the programs' settings and their roster. */

/* What must be known when the programs are loaded. 0 or a negative errno (logged). */
int who__settle(struct wire_settings *settings, const struct capture_options *options);

/* How many entries who__add() makes in the map of targets. */
size_t who__targets(const struct capture_options *options);

/* Puts processes, threads, users and cgroups on the roster. 0 or a negative errno. */
int who__add(const struct capture_options *options, const struct roster *roster);

#endif /* DENET_BPF_TARGET_FILTER_H */
