/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_H
#define DENET_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/run.h"
#include "stat/stat_rows.h"

/* Options of denet-stat: the targets, what is counted, and the form of the output. */
struct stat_options {
	struct session_options session;
	uint32_t parts;	    /* bits of enum stat_part */
	uint64_t interval_ns; /* how often it prints what came since; 0: only in the end */
	const char *output; /* "-": standard output */
	bool json;	    /* lines of denet instead of a table */
	bool alone;	    /* they have the first process only */
	bool env;	    /* a line on the machine comes first */
	struct stat_form form; /* of the table */
};

/*
 * Counts until COMMAND or all targets have ended, or a signal comes; then prints. *status is what
 * the process should exit with. 0 or a negative errno, logged.
 */
int stat__run(const struct stat_options *options, int *status);

#endif /* DENET_STAT_H */
