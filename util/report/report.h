/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_H
#define DENET_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "output/files/files.h"
#include "profile/profile.h"
#include "report/rows.h"
#include "base/text_table.h"
#include "symbol/symbols.h"

/* Options of denet-report. */
struct report_options {
	const char *input; /* "-": standard input */
	struct symbols_options symbols;
	struct profile_filter filter;
	enum row_key keys[ROW_KEYS]; /* of the screen's table */
	size_t nr_keys;
	bool sorted;	 /* keys were given, */
	bool told_apart; /* or the first of them alone */
	struct table_form form;
	size_t height;    /* lines of the terminal; 0: no limit */
	bool all_rows;    /* of at least this share; else as many as fit on a screen: */
	uint32_t min_ppm;
	bool idle;        /* waits for work are shown with the others */
	/* Tables in place of that of waits. */
	bool wakers;
	bool locks;
	/* In place of the screen. Names of files, of which "-" is standard output, or NULL. */
	bool folded;
	struct output_files outputs;
};

/* Reads the file and prints. 0 or a negative errno, logged. */
int report__run(const struct report_options *options);

#endif /* DENET_REPORT_H */
