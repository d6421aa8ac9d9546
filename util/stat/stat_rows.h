/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_STAT_ROWS_H
#define DENET_STAT_STAT_ROWS_H

#include <stdint.h>
#include <stdio.h>

#include "base/text_table.h"

#define STAT_CELL 256

/* How the tables of denet-stat are printed. */
struct stat_form {
	unsigned int top; /* rows of each part */
	struct table_form table;
};

/*
 * Rows of a table, put together cell by cell. Begin with stat_rows__begin(); each put adds a cell
 * to the row, and stat_rows__end_row() ends it. Errors are kept until stat_rows__print().
 */
struct stat_rows {
	struct text_table table;
	char cells[TEXT_TABLE_COLUMNS][STAT_CELL];
	size_t nr_cells, nr_rows;
	int err;
};

/* Begins rows with an array of columns. */
#define STAT_ROWS_BEGIN(rows, columns) \
	stat_rows__begin(rows, columns, sizeof(columns) / sizeof((columns)[0]))

/* Begins rows of these columns, which are borrowed until stat_rows__print(). */
void stat_rows__begin(struct stat_rows *rows, const struct text_column *columns, size_t nr_columns);

/* Add a cell: a text, a time of so many ns as units__format_time() has it, a share in percent. */
__attribute__((format(printf, 2, 3))) void stat_rows__put(struct stat_rows *rows,
							  const char *format, ...);
void stat_rows__put_time(struct stat_rows *rows, uint64_t ns);
void stat_rows__put_share(struct stat_rows *rows, uint64_t part, uint64_t all);

/* Adds so many cells of that text. */
void stat_rows__fill(struct stat_rows *rows, size_t nr, const char *text);

/* Cells that the row lacks are empty. */
void stat_rows__end_row(struct stat_rows *rows);

/* Ends the table; hidden: rows that --top left out. 0 or -ENOMEM. Errors of writing are out's. */
int stat_rows__print(struct stat_rows *rows, const struct stat_form *form, size_t hidden,
		     FILE *out);

#endif /* DENET_STAT_STAT_ROWS_H */
