/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/stat_rows.h"

#include <stdarg.h>
#include <string.h>

#include "base/units.h"

void stat_rows__begin(struct stat_rows *rows, const struct text_column *columns, size_t nr_columns)
{
	memset(rows, 0, sizeof(*rows));
	rows->table.columns = columns;
	rows->table.nr_columns = nr_columns;
	rows->table.flush = true;
}

void stat_rows__put(struct stat_rows *rows, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(rows->cells[rows->nr_cells++], STAT_CELL, format, args);
	va_end(args);
}

void stat_rows__put_time(struct stat_rows *rows, uint64_t ns)
{
	units__format_time(ns, rows->cells[rows->nr_cells++], STAT_CELL);
}

void stat_rows__put_share(struct stat_rows *rows, uint64_t part, uint64_t all)
{
	stat_rows__put(rows, "%.1f%%", units__percent(part, all));
}

void stat_rows__fill(struct stat_rows *rows, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		stat_rows__put(rows, "%s", text);
}

void stat_rows__end_row(struct stat_rows *rows)
{
	const char *cells[TEXT_TABLE_COLUMNS];

	for (size_t i = 0; i < rows->table.nr_columns; i++)
		cells[i] = i < rows->nr_cells ? rows->cells[i] : "";
	rows->nr_cells = 0;
	rows->nr_rows++;
	if (!rows->err)
		rows->err = text_table__add(&rows->table, cells);
}

int stat_rows__print(struct stat_rows *rows, const struct stat_form *form, size_t hidden, FILE *out)
{
	int err = rows->err;

	if (!err) {
		text_table__fit(&rows->table, &form->table);
		text_table__print_heading(&rows->table, &form->table, out);
		text_table__print(&rows->table, &form->table, 0, rows->nr_rows, out);
		if (hidden)
			fprintf(out, "(%zu more: --top)\n", hidden);
	}
	text_table__free(&rows->table);
	return err;
}
