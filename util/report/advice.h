/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_ADVICE_H
#define DENET_REPORT_ADVICE_H

#include <stdio.h>

#include "report/recording.h"
#include "report/report.h"
#include "report/shares.h"

/*
 * Prints the commands that tell more of what most of the time was spent on. They name the file
 * unless it is perf.data, and are none of those that were asked for.
 */
void advice__print(const struct recording *recording, const struct shares *shares,
		   const struct report_options *options, FILE *out);

#endif /* DENET_REPORT_ADVICE_H */
