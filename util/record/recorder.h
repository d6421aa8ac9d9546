/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_RECORDER_H
#define DENET_RECORD_RECORDER_H

#include "record/options.h"

/*
 * Makes a recording, from the checked options to the last line. Everything in options is borrowed.
 * 0, or a negative errno (logged); *status is then the process's exit status: that of COMMAND if
 * COMMAND was recorded or ended by itself, else 0.
 */
int recorder__run(const struct recorder_options *options, int *status);

#endif /* DENET_RECORD_RECORDER_H */
