/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HIST_HIST_CMD_H
#define DENET_HIST_HIST_CMD_H

#include <stdbool.h>

#include "session/session.h"

/* Measures the durations of blocks, from which a threshold can be chosen. Writes no file. */
struct hist_cmd_options {
	struct session_options session;
	bool json; /* stdout is for programs */
};

/*
 * Watches until a recording of the same options would end, and prints the histogram and the table
 * of thresholds on stdout. Everything in options is borrowed. 0, or a negative errno (logged);
 * *status is then the process's exit status, as of recorder__run().
 */
int hist_cmd__run(const struct hist_cmd_options *options, int *status);

#endif /* DENET_HIST_HIST_CMD_H */
