/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_WHO_H
#define DENET_CAPTURE_WHO_H

#include "capture/capture.h"
#include "capture/programs.h"

/* Whom to record, from the options to the programs' settings and maps. */

/* What must be known when the programs are loaded. 0 or a negative errno (logged). */
int who__settle(struct wire_settings *settings, const struct capture_options *options);

/* How many entries who__add() makes in the map of targets. */
size_t who__targets(const struct capture_options *options);

/* Gives processes, threads, users and cgroups to the programs. 0 or a negative errno. */
int who__add(const struct capture_options *options, struct programs *programs);

#endif /* DENET_CAPTURE_WHO_H */
