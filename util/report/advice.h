/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_ADVICE_H
#define DENET_REPORT_ADVICE_H

#include <stdio.h>

#include "report/recording.h"
#include "report/report.h"
#include "report/shares.h"

/*
 * Prints commands that show more of the greatest part of the time. They name the file unless it is
 * perf.data, and omit commands that have been run.
 */
void advice__print(const struct recording *recording, const struct shares *shares,
		   const struct report_options *options, FILE *out);

#endif /* DENET_REPORT_ADVICE_H */
