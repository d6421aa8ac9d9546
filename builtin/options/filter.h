/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_FILTER_H
#define DENET_BUILTIN_OPTIONS_FILTER_H

#include <stdint.h>

#include "builtin/options/table.h"
#include "capture/idle.h"
#include "capture/options.h"

/* The blocks to count. */
struct filter_options {
	struct capture_filter capture; /* its defaults are capture_options__init()'s */
	uint32_t states;	       /* as in it; 0: --state was not given */
	struct skip_idle {
		bool on;
		const char *file; /* rules that are added; NULL: none */
	} skip_idle;
	struct idle_table idle; /* of skip_idle */
};

extern const struct option_table filter_table;

/*
 * Reads the rules of --skip-idle and completes the capture's options, which point to these filter
 * options from then on. 0 or a negative errno (logged).
 */
int filter_options__resolve(struct filter_options *filter, struct capture_options *capture);

/* Frees what the options own, not the options. */
void filter_options__free(struct filter_options *filter);

#endif /* DENET_BUILTIN_OPTIONS_FILTER_H */
