/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_ROW_TABLE_H
#define DENET_REPORT_ROW_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/rows.h"
#include "base/text_table.h"

/* A table of rows on the screen. */
struct row_table {
	unsigned int events; /* bits 1 << enum profile_event */
	const enum row_key *keys;
	size_t nr_keys;
	uint64_t total;   /* ns, of which the rows have shares */
	size_t most;	  /* rows */
	bool all;	  /* rows of at least this share, however many: */
	uint32_t min_ppm;
	struct table_form form;
};

/* Prints it, and what the rows that are left out add up to. 0 or -ENOMEM. */
int row_table__print(const struct row_table *table, const struct profile *profile, FILE *out);

#endif /* DENET_REPORT_ROW_TABLE_H */
