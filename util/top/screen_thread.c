/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "base/minmax.h"
#include "top/csv_text.h"
#include "top/screen_graph.h"

/* Of a column that changes, so many of its texts are shown. */
#define MOST_TEXTS 4
#define NAME_COLUMNS 14
#define SHARE_COLUMNS 8

/* A line: a column, a text that it had, and its share. */
struct entry {
	size_t column;
	const char *text;
	uint64_t weight_ns;
};

struct thread_page {
	struct activity_view view;
	struct strings strings;
	struct buffer entries; /* struct entry, with texts of strings */
};

static struct entry *entries_of(const struct thread_page *page, size_t *nr)
{
	*nr = page->entries.len / sizeof(struct entry);
	return (void *)page->entries.data;
}

static int add_text(struct thread_page *page, struct idmap *index, size_t column, const char *text,
		    uint64_t weight_ns)
{
	struct entry entry = { .column = column, .text = strings__get(&page->strings, text) };
	uint64_t *value = entry.text ? idmap__get(index, (uint64_t)(uintptr_t)entry.text) : NULL;
	size_t nr;

	if (!value)
		return -ENOMEM;
	if (!*value) {
		if (buffer__append(&page->entries, &entry, sizeof(entry)))
			return -ENOMEM;
		*value = page->entries.len / sizeof(entry);
	}
	entries_of(page, &nr)[*value - 1].weight_ns += weight_ns;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->weight_ns == y->weight_ns ? 0 : x->weight_ns > y->weight_ns ? -1 : 1;
}

static int add_column(struct thread_page *page, size_t column, size_t place)
{
	struct idmap index = { 0 };
	size_t nr;
	const struct activity_row *rows = activity_view__rows(&page->view, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_text(page, &index, column, rows[i].texts[place], rows[i].weight_ns);
	idmap__free(&index);
	return err;
}

static void paint_entry(const struct screen_state *state, struct canvas *canvas, size_t line,
			const struct entry *entry, bool first, double share)
{
	enum canvas_style style = STYLE_NORMAL;
	char text[32];

	if (first)
		canvas__put(canvas, line, 1, NAME_COLUMNS - 1, STYLE_HEADING,
			    top_column__name((enum top_column)entry->column));
	snprintf(text, sizeof(text), "%.1f%%", 100 * share);
	canvas__put_right(canvas, line, NAME_COLUMNS, SHARE_COLUMNS - 1, STYLE_NORMAL, text);
	if (screen_state__match(state, entry->text))
		style = STYLE_MATCH;
	else if (entry->column == TOP_COLUMN_STATE)
		style = screen_graph__style(entry->text);
	canvas__put(canvas, line, NAME_COLUMNS + SHARE_COLUMNS, SIZE_MAX, style, entry->text);
}

/* Takes texts away that are none, and those behind the first few of their column. */
static void shorten(struct thread_page *page)
{
	size_t nr, kept = 0, of_column = 0;
	struct entry *entries = entries_of(page, &nr);

	qsort(entries, nr, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < nr; i++) {
		of_column = i && entries[i].column == entries[i - 1].column ? of_column + 1 : 1;
		if (*entries[i].text && of_column <= MOST_TEXTS)
			entries[kept++] = entries[i];
	}
	page->entries.len = kept * sizeof(*entries);
}

static void paint_entries(struct screen_state *state, struct canvas *canvas, size_t line,
			  size_t lines, const struct thread_page *page)
{
	uint64_t weight_ns = max_u64(page->view.weight_ns, 1);
	size_t nr;
	const struct entry *entries = entries_of(page, &nr);

	state->detail_top = min_u64(state->detail_top, nr - min_u64(nr, lines));
	for (size_t i = state->detail_top; i < nr && i - state->detail_top < lines; i++) {
		bool first = i == state->detail_top || entries[i].column != entries[i - 1].column;

		paint_entry(state, canvas, line + i - state->detail_top, &entries[i], first,
			    (double)entries[i].weight_ns / (double)weight_ns);
	}
	if (!nr && lines > 1)
		canvas__put(canvas, line + 1, 2, SIZE_MAX, STYLE_DIM,
			    "the thread was not active in this time");
}

static void free_page(struct thread_page *page)
{
	activity_view__free(&page->view);
	strings__free(&page->strings);
	buffer__free(&page->entries);
}

/* A query has fewer columns than there are: a part of them at a time. 0 or -ENOMEM. */
static int make_page(const struct screen_state *state, struct thread_page *page)
{
	struct activity_query query;
	size_t columns[ACTIVITY_GROUP], nr = 0;
	int err = 0;

	screen_state__query(state, &query);
	query.columns = columns;
	for (size_t first = 0; first < TOP_COLUMNS && !err; first += nr) {
		for (nr = 0; nr < ACTIVITY_GROUP && first + nr < TOP_COLUMNS; nr++)
			columns[nr] = first + nr;
		query.nr_columns = nr;
		err = activity__group(state->activity, &query, &page->view);
		for (size_t i = 0; i < nr && !err; i++)
			err = add_column(page, first + i, i);
	}
	if (!err)
		shorten(page);
	return err;
}

int screen_thread__paint(struct screen_state *state, struct canvas *canvas, size_t line,
			 size_t lines)
{
	struct thread_page page = { 0 };
	int err = make_page(state, &page);

	if (!err)
		paint_entries(state, canvas, line, lines, &page);
	free_page(&page);
	return err;
}

static int write_entry(const struct entry *entry, double share, FILE *out)
{
	struct buffer line = { 0 };
	int err = csv_text__add(&line, "%s,%.6f,", top_column__name((enum top_column)entry->column),
				share);

	if (!err)
		err = csv_text__add_quoted(&line, entry->text);
	return csv_text__end(&line, err, out);
}

int screen_thread__write(const struct screen_state *state, FILE *out)
{
	struct thread_page page = { 0 };
	size_t nr;
	int err = make_page(state, &page);
	const struct entry *entries = entries_of(&page, &nr);
	double weight_ns = (double)max_u64(page.view.weight_ns, 1);

	fputs("column,share,text\n", out);
	for (size_t i = 0; i < nr && !err; i++)
		err = write_entry(&entries[i], (double)entries[i].weight_ns / weight_ns, out);
	free_page(&page);
	return err;
}
