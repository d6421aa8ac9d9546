/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_SETTINGS_H
#define DENET_CAPTURE_SETTINGS_H

#include <stdbool.h>

#include "bpf/offcpu.h"
#include "capture/ksyms_cache.h"
#include "capture/options.h"

/* The options of a capture as the BPF programs read them. */

/*
 * Everything that must be known when the programs are loaded; symbols are read if needed for it. 0
 * or a negative errno (logged).
 */
int settings__make(struct offcpu_config *config, const struct capture_options *options,
		   struct ksyms_cache *symbols);

/* Adds processes, threads, users and cgroups to the target maps. 0 or a negative errno. */
int settings__add_targets(const struct capture_targets *targets,
			  const struct target_maps *target_maps);

#endif /* DENET_CAPTURE_SETTINGS_H */
