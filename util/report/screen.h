/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_SCREEN_H
#define DENET_REPORT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "input/input.h"
#include "profile/profile.h"
#include "report/locks.h"
#include "report/report.h"

/* What is known of a file besides its samples. */
struct screen_file {
	const char *path;
	const struct input_info *info;
	const struct input_totals *totals;
	bool has_reasons;
	const struct locks *locks; /* sorted */
};

/*
 * Prints what fits on a screen: the time by what it was spent on, where most of it went, what is
 * not in that, and what to run next. 0, -ENOMEM or -EIO.
 */
int screen__print(const struct profile *profile, const struct screen_file *file,
		  const struct report_options *options, FILE *out);

#endif /* DENET_REPORT_SCREEN_H */
