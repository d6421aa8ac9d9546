/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_SCREEN_H
#define DENET_REPORT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "report/recording.h"
#include "report/report.h"

/*
 * Prints what fits on a screen: the time by what it was spent on, where most of it went, what is
 * not in that, and what to run next. 0, -ENOMEM or -EIO.
 */
int screen__print(const struct recording *recording, const struct report_options *options,
		  FILE *out);

#endif /* DENET_REPORT_SCREEN_H */
