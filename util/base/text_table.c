/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/text_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/minmax.h"

#define SHORT_TEXT_BYTES 400 /* longer texts, escaped, take memory */
/* Without a limit, a longer text sticks out of its column, which other lines need not follow. */
#define MOST_COLUMNS 48

/*
 * How columns give way, in this order: the widest one of a kind, down to so many characters.
 * Columns with a rank are left out before texts get short. In the end nothing is cut, even if the
 * line then is too long.
 */
static const struct step {
	enum text_column_kind kind;
	size_t least;
} steps[] = {
	{ COLUMN_CALLERS, 40 }, { COLUMN_TEXT, 28 },  { COLUMN_CALLERS, 24 }, { COLUMN_TEXT, 20 },
	{ COLUMN_CALLERS, 20 }, { COLUMN_TEXT, 12 },  { COLUMN_CALLERS, 16 }, { COLUMN_TEXT, 8 },
	{ COLUMN_CALLERS, 12 }, { COLUMN_PLACE, 16 },
};
#define SHORT_TEXT 20
#define DOTS "..."

static const char *cell(const struct text_table *table, size_t line, size_t column)
{
	const char *const *cells = (const void *)table->cells.data;

	return cells[line * table->nr_columns + column];
}

static size_t nr_lines(const struct text_table *table)
{
	return table->cells.len / sizeof(const char *) / table->nr_columns;
}

static const char *keep_escaped(struct text_table *table, const char *text)
{
	size_t size = strlen(text) * strlen("\\x0a") + 1;
	char near[SHORT_TEXT_BYTES], *escaped = size <= sizeof(near) ? near : malloc(size);
	const char *kept;

	if (!escaped)
		return NULL;
	log__escape(escaped, size, text);
	kept = strings__get(&table->strings, escaped);
	if (escaped != near)
		free(escaped);
	return kept;
}

int text_table__add(struct text_table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		const char *kept = keep_escaped(table, cells[i]);

		if (!kept || buffer__append(&table->cells, &kept, sizeof(kept)))
			return -ENOMEM;
	}
	return 0;
}

static size_t longest(const struct text_table *table, size_t column)
{
	size_t width = strlen(table->columns[column].heading);

	for (size_t i = 0; i < nr_lines(table); i++)
		width = max_u64(width, strlen(cell(table, i, column)));
	return width;
}

/* Two columns stand before the first column and before each text. */
static size_t gap(const struct text_table *table, size_t column)
{
	if (!column && table->flush)
		return 0;
	return !column || table->columns[column].kind != COLUMN_NUMBER ? 2 : 1;
}

static size_t line_width(const struct text_table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->widths[i])
			width += gap(table, i) + table->widths[i];
	}
	return width;
}

/* Leaves out the column of the greatest rank; the last one of these. False: there is none. */
static bool leave_one_out(struct text_table *table)
{
	size_t found = table->nr_columns;

	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].rank && table->widths[i] &&
		    (found == table->nr_columns ||
		     table->columns[i].rank >= table->columns[found].rank))
			found = i;
	}
	if (found == table->nr_columns)
		return false;
	table->widths[found] = 0;
	return true;
}

/* The widest column of a kind that is wider than this and than its heading. NULL: none. */
static size_t *widest(struct text_table *table, const struct step *step)
{
	size_t *found = NULL;

	for (size_t i = 0; i < table->nr_columns; i++) {
		size_t least = max_u64(step->least, strlen(table->columns[i].heading));

		if (table->columns[i].kind == step->kind && table->widths[i] > least &&
		    (!found || table->widths[i] > *found))
			found = &table->widths[i];
	}
	return found;
}

void text_table__fit(struct text_table *table, const struct table_form *form)
{
	size_t *column, step = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		table->widths[i] = longest(table, i);
		if (!form->width)
			table->widths[i] = min_u64(table->widths[i], MOST_COLUMNS);
	}
	while (form->width && line_width(table) > form->width &&
	       step < sizeof(steps) / sizeof(steps[0])) {
		if (steps[step].least < SHORT_TEXT && leave_one_out(table))
			continue;
		column = widest(table, &steps[step]);
		if (column)
			--*column;
		else
			step++;
	}
}

/* No more than so many bytes of a text, and no part of a character. */
static size_t whole_characters(const char *text, size_t most)
{
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

static void print_without_end(const char *text, size_t len, size_t room, FILE *out)
{
	size_t most = whole_characters(text, room - strlen(DOTS));

	if (len <= room)
		fprintf(out, "%-*.*s", (int)room, (int)len, text);
	else
		fprintf(out, "%.*s" DOTS "%*s", (int)most, text, (int)(room - most - strlen(DOTS)),
			"");
}

static void print_without_middle(const char *text, size_t len, size_t room, FILE *out)
{
	size_t first = whole_characters(text, room / 3);
	size_t rest = len - (room - room / 3 - strlen(DOTS));

	while (((unsigned char)text[rest] & 0xc0) == 0x80)
		rest++;
	fprintf(out, "%.*s" DOTS "%.*s", (int)first, text, (int)(len - rest), text + rest);
}

/* "a timer (clock_nanosleep)" without the call, "file /va.../2619": names differ at their end. */
static void print_cut(const char *text, size_t len, size_t room, FILE *out)
{
	const char *open = text[len - 1] == ')' ? strstr(text, " (") : NULL;

	if (open)
		len = (size_t)(open - text);
	if (len > room && memchr(text, '/', len))
		print_without_middle(text, len, room, out);
	else
		print_without_end(text, len, room, out);
}

/* "innermost < its caller < ..." with as many as there is room for; at least the first one. */
static void print_callers(const char *text, size_t room, FILE *out)
{
	const char *at = text, *end = NULL;

	while ((at = strstr(at, " < ")) && (size_t)(at - text) + strlen(" < " DOTS) <= room) {
		end = at;
		at += strlen(" < ");
	}
	if (end)
		fprintf(out, "%.*s < " DOTS, (int)(end - text), text);
	else if ((at = strstr(text, " < ")) && (size_t)(at - text) <= room)
		fprintf(out, "%.*s", (int)(at - text), text);
	else
		print_without_end(text, strlen(text), room, out);
}

/* nr: the cells of the line. */
static void print_text(const struct text_table *table, const struct table_form *form, size_t line,
		       size_t column, size_t nr, FILE *out)
{
	const char *text = cell(table, line, column);
	size_t len = strlen(text), room = table->widths[column];

	/* No blanks at the end of a line. */
	if (!form->width || len <= room)
		fprintf(out, "%-*s", column + 1 < nr ? (int)room : 0, text);
	else if (table->columns[column].kind == COLUMN_CALLERS)
		print_callers(text, room, out);
	else if (table->columns[column].kind == COLUMN_PLACE)
		print_without_middle(text, len, room, out);
	else
		print_cut(text, len, room, out);
}

void text_table__print_heading(const struct text_table *table, const struct table_form *form,
			       FILE *out)
{
	fprintf(out, "\n%s", form->colours ? "\033[1m" : "");
	for (size_t i = 0; i < table->nr_columns; i++) {
		int width = (int)table->widths[i];

		if (!width)
			continue;
		if (table->columns[i].kind != COLUMN_NUMBER)
			width = i + 1 < table->nr_columns ? -width : 0;
		fprintf(out, "%*s%*s", (int)gap(table, i), "", width, table->columns[i].heading);
	}
	fprintf(out, "%s\n", form->colours ? "\033[0m" : "");
}

/* The columns of a line up to the last one that is not empty. */
static size_t filled(const struct text_table *table, size_t line)
{
	size_t nr = table->nr_columns;

	while (nr && !*cell(table, line, nr - 1))
		nr--;
	return nr;
}

void text_table__print(const struct text_table *table, const struct table_form *form, size_t first,
		       size_t end, FILE *out)
{
	for (size_t i = first; i < end; i++) {
		size_t nr = filled(table, i);

		for (size_t j = 0; j < nr; j++) {
			if (!table->widths[j])
				continue;
			fprintf(out, "%*s", (int)gap(table, j), "");
			if (table->columns[j].kind == COLUMN_NUMBER)
				fprintf(out, "%*s", (int)table->widths[j], cell(table, i, j));
			else
				print_text(table, form, i, j, nr, out);
		}
		fputc('\n', out);
	}
}

void text_table__free(struct text_table *table)
{
	buffer__free(&table->cells);
	strings__free(&table->strings);
}
