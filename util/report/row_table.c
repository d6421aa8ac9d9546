/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/row_table.h"

#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "report/shown_time.h"

#define MOST_ROWS 15
#define MOST_WHOLE 5 /* of them */
#define MOST_COLUMNS 48
#define MAX_TEXT 400

/* Rows one behind the other. */
struct section {
	size_t first, end;
};

static double percent(const struct row_table *table, uint64_t ns)
{
	return table->total ? 100.0 * (double)ns / (double)table->total : 0;
}

/* The width of a column: of its longest text, but for the last one's, which has the rest. */
static int width_of(const struct row_table *table, const struct rows *rows,
		    const struct section *section, size_t column)
{
	size_t width = strlen(row_key__heading(table->keys[column]));
	char text[MAX_TEXT];

	for (size_t i = section->first; i < section->end; i++) {
		log__escape(text, sizeof(text), rows__at(rows, i)->texts[column]);
		width = max_u64(width, strlen(text));
	}
	return column + 1 == table->nr_keys ? 0 : (int)min_u64(width, MOST_COLUMNS);
}

static int width_of_times(const struct row_table *table)
{
	return table->exact ? SHOWN_TIME_EXACT_WIDTH : SHOWN_TIME_WIDTH;
}

static void print_heading(const struct row_table *table, const int *widths, FILE *out)
{
	int width = width_of_times(table);

	fprintf(out, "\n%s  %7s %*s %*s %9s", table->colours ? "\033[1m" : "", "SHARE", width,
		"TIME", width, "LONGEST", "BLOCKS");
	for (size_t i = 0; i < table->nr_keys; i++)
		fprintf(out, "  %-*s", widths[i], row_key__heading(table->keys[i]));
	fprintf(out, "%s\n", table->colours ? "\033[0m" : "");
}

/* A text without its middle if the column has no room for it. */
static void print_text(const char *text, int width, FILE *out)
{
	size_t len = strlen(text), room = (size_t)width;

	if (!width || len <= room)
		fprintf(out, "  %-*s", width, text);
	else
		fprintf(out, "  %.*s...%s", width / 3, text, text + len - (room - room / 3 - 3));
}

static void print_row(const struct row_table *table, const struct row *row, const int *widths,
		      FILE *out)
{
	char time[SHOWN_TIME_MAX], longest[SHOWN_TIME_MAX], count[32], text[MAX_TEXT];
	int width = width_of_times(table);

	fprintf(out, "  %5.1f %% %*s %*s %9s", percent(table, row->ns), width,
		shown_time__format(table->exact, row->ns, time), width,
		shown_time__format_longest(table->exact, row->longest, row->mean, longest),
		units__format_count(row->blocks, count, sizeof(count)));
	for (size_t i = 0; i < table->nr_keys; i++) {
		log__escape(text, sizeof(text), row->texts[i]);
		print_text(text, widths[i], out);
	}
	fputc('\n', out);
}

/* The rows of a section that are shown, of at most so many. */
static struct section shown_of(const struct row_table *table, const struct rows *rows,
			       const struct section *section, size_t most)
{
	struct section shown = { section->first, section->first };

	while (shown.end < section->end && (table->all || shown.end - shown.first < most) &&
	       percent(table, rows__at(rows, shown.end)->ns) * 10000 >= table->min_ppm)
		shown.end++;
	return shown;
}

static uint64_t print_section(const struct row_table *table, const struct rows *rows,
			      const struct section *section, const int *widths, FILE *out)
{
	uint64_t ns = 0;

	for (size_t i = section->first; i < section->end; i++) {
		print_row(table, rows__at(rows, i), widths, out);
		ns += rows__at(rows, i)->ns;
	}
	return ns;
}

static void print_rest(const struct row_table *table, const struct rows *rows, size_t shown,
		       uint64_t shown_ns, FILE *out)
{
	uint64_t ns = 0;
	char time[SHOWN_TIME_MAX];

	for (size_t i = 0; i < rows->nr; i++)
		ns += rows__at(rows, i)->ns;
	if (rows->nr > shown)
		fprintf(out,
			"  %5.1f %% %*s in %zu more rows; --min-percent 0 shows all of them\n",
			percent(table, ns - shown_ns), width_of_times(table),
			shown_time__format(table->exact, ns - shown_ns, time), rows->nr - shown);
}

static void print(const struct row_table *table, const struct rows *rows, FILE *out)
{
	struct section parts = { 0, 0 }, whole = { 0, rows->nr };
	int widths[ROW_KEYS];
	uint64_t ns;

	while (whole.first < rows->nr && !rows__at(rows, whole.first)->whole)
		whole.first++;
	parts.end = whole.first;
	whole = shown_of(table, rows, &whole, parts.end ? MOST_WHOLE : MOST_ROWS);
	parts = shown_of(table, rows, &parts, MOST_ROWS - (whole.end - whole.first));
	for (size_t i = 0; i < table->nr_keys; i++)
		widths[i] = (int)max_u64((uint64_t)width_of(table, rows, &parts, i),
					   (uint64_t)width_of(table, rows, &whole, i));
	print_heading(table, widths, out);
	ns = print_section(table, rows, &parts, widths, out);
	if (whole.end > whole.first && parts.end)
		fputs("  blocked from begin to end:\n", out);
	ns += print_section(table, rows, &whole, widths, out);
	print_rest(table, rows, parts.end - parts.first + whole.end - whole.first, ns, out);
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
