/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BASE_TEXT_TABLE_H
#define DENET_BASE_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/strings.h"

#define TEXT_TABLE_COLUMNS 16

/* How tables are printed. */
struct table_form {
	bool exact;   /* times in ns */
	bool colours;
	size_t width; /* columns of the terminal, which lines fit in; 0: no limit */
};

enum text_column_kind {
	COLUMN_NUMBER,	/* aligned right, never cut */
	COLUMN_TEXT,	/* loses what it has in parentheses at its end, then more of it */
	COLUMN_CALLERS, /* "a < b < c": loses the outermost ones, by turns with the others */
	COLUMN_PLACE,	/* loses its middle, after others */
};

struct text_column {
	const char *heading;
	enum text_column_kind kind;
	unsigned int rank; /* the greatest is left out of lines too long; 0: never */
};

/* Lines of cells below headings. Zero-initialised, but for the first three, is empty. */
struct text_table {
	const struct text_column *columns;
	size_t nr_columns; /* at most TEXT_TABLE_COLUMNS */
	bool flush; /* the first column is not indented */
	struct buffer cells; /* const char *, of strings */
	struct strings strings;
	size_t widths[TEXT_TABLE_COLUMNS]; /* 0: left out */
};

/* Adds a line, with a text for each column; control characters are escaped. 0 or -ENOMEM. */
int text_table__add(struct text_table *table, const char *const *cells);

/*
 * After the last line: makes columns as wide as their texts, or as the width permits. Columns
 * with a rank are left out before texts get short.
 */
void text_table__fit(struct text_table *table, const struct table_form *form);

void text_table__print_heading(const struct text_table *table, const struct table_form *form,
			       FILE *out);

/* Prints lines from first on and before end. */
void text_table__print(const struct text_table *table, const struct table_form *form, size_t first,
		       size_t end, FILE *out);

void text_table__free(struct text_table *table);

#endif /* DENET_BASE_TEXT_TABLE_H */
