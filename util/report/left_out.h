/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_LEFT_OUT_H
#define DENET_REPORT_LEFT_OUT_H

#include <stdio.h>

#include "report/recording.h"
#include "report/report.h"
#include "report/shares.h"

/*
 * Prints a line for each reason why the figures above it are not all there was: waits for work,
 * filters, samples in place of each block, losses.
 */
void left_out__print(const struct recording *recording, const struct shares *shares,
		     const struct report_options *options, FILE *out);

#endif /* DENET_REPORT_LEFT_OUT_H */
