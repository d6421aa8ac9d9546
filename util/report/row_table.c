/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/row_table.h"

#include <stdio.h>

#include "base/units.h"
#include "report/shown_time.h"

/* The part of the rows that those of blocks as long as the recording have. */
#define WHOLE_PART 3

/* Rows one behind the other. */
struct section {
	size_t first, end;
};

/* The columns of a table: numbers, then its keys. */
static size_t name_columns(const struct row_table *table, struct text_column *columns)
{
	static const char *const numbers[] = { "SHARE", "TIME", "LONGEST", "BLOCKS" };
	size_t nr = sizeof(numbers) / sizeof(numbers[0]);

	/* Where lines are too long, the number of blocks is left out. */
	for (size_t i = 0; i < nr; i++)
		columns[i] = (struct text_column){ numbers[i], COLUMN_NUMBER, i == nr - 1 };
	for (size_t i = 0; i < table->nr_keys; i++)
		columns[nr + i] = (struct text_column){
			row_key__heading(table->keys[i]),
			table->keys[i] == ROW_CALLERS ? COLUMN_CALLERS : COLUMN_TEXT, 0,
		};
	return nr + table->nr_keys;
}

static int add_row(const struct row_table *table, const struct row *row, struct text_table *text)
{
	char share[16], time[SHOWN_TIME_MAX], longest[SHOWN_TIME_MAX], count[32];
	const char *cells[TEXT_TABLE_COLUMNS] = {
		share,
		shown_time__format(table->form.exact, row->ns, time),
		shown_time__format_longest(table->form.exact, row->longest, row->mean, longest),
		units__format_count(row->blocks, count, sizeof(count)),
	};

	snprintf(share, sizeof(share), "%5.1f %%", units__percent(row->ns, table->total));
	for (size_t i = 0; i < table->nr_keys; i++)
		cells[text->nr_columns - table->nr_keys + i] = row->texts[i];
	return text_table__add(text, cells);
}

static int add_rows(const struct row_table *table, const struct rows *rows,
		    const struct section *section, struct text_table *text)
{
	int err = 0;

	for (size_t i = section->first; i < section->end && !err; i++)
		err = add_row(table, rows__at(rows, i), text);
	return err;
}

/* The rows of a section that are shown, of at most so many. */
static struct section shown_of(const struct row_table *table, const struct rows *rows,
			       const struct section *section, size_t most)
{
	struct section shown = { section->first, section->first };
	double percent;

	while (shown.end < section->end && (table->all || shown.end - shown.first < most)) {
		percent = units__percent(rows__at(rows, shown.end)->ns, table->total);
		if (percent * 10000 < table->min_ppm)
			break;
		shown.end++;
	}
	return shown;
}

static void print_rest(const struct row_table *table, const struct rows *rows, uint64_t shown_ns,
		       size_t shown, FILE *out)
{
	uint64_t ns = 0;
	char time[SHOWN_TIME_MAX];

	for (size_t i = 0; i < rows->nr; i++)
		ns += rows__at(rows, i)->ns;
	if (rows->nr > shown)
		fprintf(out, "  %5.1f %% %s in %zu more rows; --min-percent 0 shows all of them\n",
			units__percent(ns - shown_ns, table->total),
			shown_time__format(table->form.exact, ns - shown_ns, time),
			rows->nr - shown);
}

static uint64_t sum_of(const struct rows *rows, const struct section *section)
{
	uint64_t ns = 0;

	for (size_t i = section->first; i < section->end; i++)
		ns += rows__at(rows, i)->ns;
	return ns;
}

static int print(const struct row_table *table, const struct rows *rows, struct text_table *text,
		 FILE *out)
{
	struct section parts = { 0, 0 }, whole = { 0, rows->nr };
	size_t nr_parts, nr;
	int err;

	while (whole.first < rows->nr && !rows__at(rows, whole.first)->whole)
		whole.first++;
	parts.end = whole.first;
	whole = shown_of(table, rows, &whole, parts.end ? table->most / WHOLE_PART : table->most);
	parts = shown_of(table, rows, &parts, table->most - (whole.end - whole.first));
	err = add_rows(table, rows, &parts, text);
	if (!err)
		err = add_rows(table, rows, &whole, text);
	if (err)
		return err;
	nr_parts = parts.end - parts.first;
	nr = nr_parts + whole.end - whole.first;
	text_table__fit(text, &table->form);
	text_table__print_heading(text, &table->form, out);
	text_table__print(text, &table->form, 0, nr_parts, out);
	if (nr > nr_parts && nr_parts)
		fputs("  blocked from begin to end:\n", out);
	text_table__print(text, &table->form, nr_parts, nr, out);
	print_rest(table, rows, sum_of(rows, &parts) + sum_of(rows, &whole), nr, out);
	return 0;
}

int row_table__print(const struct row_table *table, const struct profile *profile, FILE *out)
{
	struct text_column columns[TEXT_TABLE_COLUMNS];
	struct text_table text = {
		.columns = columns,
		.nr_columns = name_columns(table, columns),
	};
	struct rows rows = { 0 };
	int err = rows__make(&rows, profile, table->events, table->keys, table->nr_keys);

	if (!err && rows.nr)
		err = print(table, &rows, &text, out);
	text_table__free(&text);
	rows__free(&rows);
	return err;
}
