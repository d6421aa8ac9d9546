/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/row_table.h"

#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"

#define MOST_ROWS 15
#define MOST_COLUMNS 48
#define MAX_TEXT 400

static double percent(const struct row_table *table, uint64_t ns)
{
	return table->total ? 100.0 * (double)ns / (double)table->total : 0;
}

/* The width of a column: of its longest text, but for the last one's, which has the rest. */
static int width_of(const struct row_table *table, const struct rows *rows, size_t nr,
		    size_t column)
{
	size_t width = strlen(row_key__heading(table->keys[column]));
	char text[MAX_TEXT];

	for (size_t i = 0; i < nr; i++) {
		log__escape(text, sizeof(text), rows__at(rows, i)->texts[column]);
		width = max_u64(width, strlen(text));
	}
	return column + 1 == table->nr_keys ? 0 : (int)min_u64(width, MOST_COLUMNS);
}

static void print_heading(const struct row_table *table, const int *widths, FILE *out)
{
	fprintf(out, "\n%s  %7s %12s %12s %9s", table->colours ? "\033[1m" : "", "SHARE", "TIME",
		"LONGEST", "BLOCKS");
	for (size_t i = 0; i < table->nr_keys; i++)
		fprintf(out, "  %-*s", widths[i], row_key__heading(table->keys[i]));
	fprintf(out, "%s\n", table->colours ? "\033[0m" : "");
}

static void print_row(const struct row_table *table, const struct row *row, const int *widths,
		      FILE *out)
{
	char time[32], longest[32] = "-", count[32], text[MAX_TEXT];

	if (row->longest)
		units__format_time(row->longest, longest, sizeof(longest));
	fprintf(out, "  %5.1f %% %12s %12s %9s", percent(table, row->ns),
		units__format_time(row->ns, time, sizeof(time)), longest,
		units__format_count(row->blocks, count, sizeof(count)));
	for (size_t i = 0; i < table->nr_keys; i++) {
		log__escape(text, sizeof(text), row->texts[i]);
		fprintf(out, "  %-*s", widths[i], text);
	}
	fputc('\n', out);
}

static size_t count_rows(const struct row_table *table, const struct rows *rows)
{
	size_t nr = 0;

	while (nr < rows->nr && (table->min_ppm || nr < MOST_ROWS) &&
	       percent(table, rows__at(rows, nr)->ns) * 10000 >= table->min_ppm)
		nr++;
	return nr;
}

static void print(const struct row_table *table, const struct rows *rows, FILE *out)
{
	size_t nr = count_rows(table, rows);
	int widths[ROW_KEYS];
	uint64_t rest = 0;
	char time[32];

	for (size_t i = 0; i < table->nr_keys; i++)
		widths[i] = width_of(table, rows, nr, i);
	print_heading(table, widths, out);
	for (size_t i = 0; i < nr; i++)
		print_row(table, rows__at(rows, i), widths, out);
	for (size_t i = nr; i < rows->nr; i++)
		rest += rows__at(rows, i)->ns;
	if (rows->nr > nr)
		fprintf(out,
			"  %5.1f %% %12s in %zu more rows; --min-percent 0.01 shows more of "
			"them\n",
			percent(table, rest), units__format_time(rest, time, sizeof(time)),
			rows->nr - nr);
}

int row_table__print(const struct row_table *table, const struct profile *profile, FILE *out)
{
	struct rows rows = { 0 };
	int err = rows__make(&rows, profile, table->events, table->keys, table->nr_keys);

	if (!err && rows.nr)
		print(table, &rows, out);
	rows__free(&rows);
	return err;
}
