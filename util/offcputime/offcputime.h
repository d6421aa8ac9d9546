/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OFFCPUTIME_H
#define DENET_OFFCPUTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "output/bcc/bcc.h"
#include "output/files/files.h"
#include "session/session.h"

/* Options of denet-offcputime: the targets, and the form of the output. */
struct offcputime_options {
	struct session_options session;
	const char *threads;  /* which ones, for the first line */
	uint64_t duration_ns; /* 0: until something else ends it */
	/* Threads that were blocked all the time count as well, be they named or not. */
	bool never_ran;
	struct symbols_options symbols;
	struct bcc_form form;
	struct output_files outputs; /* in place of text of that form */
	bool text;		     /* as well as files */
	const char *output;	     /* where the text goes; "-": standard output */
	uint64_t interval_ns;	     /* how often it prints and begins anew; 0: never */
};

/*
 * Traces until the duration is over, COMMAND or all targets have ended, or a signal comes; then
 * prints. *status is what the process should exit with. 0 or a negative errno, logged.
 */
int offcputime__run(const struct offcputime_options *options, int *status);

#endif /* DENET_OFFCPUTIME_H */
