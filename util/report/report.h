/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_H
#define DENET_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "report/rows.h"
#include "symbol/symbols.h"

/* What denet-report does with a file. */
struct report_options {
	const char *input; /* "-": standard input */
	struct symbols_options symbols;
	struct profile_filter filter;
	enum row_key keys[ROW_KEYS]; /* of the screen's table */
	size_t nr_keys;
	uint32_t min_ppm; /* rows with a lesser share are left out */
	bool idle;        /* waits for work are shown with the others */
	bool colours;
	/* Outputs in place of the screen. */
	bool folded;
	bool json;
};

/* Reads the file and prints. 0 or a negative errno, logged. */
int report__run(const struct report_options *options);

#endif /* DENET_REPORT_H */
