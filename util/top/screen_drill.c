/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_drill.h"

#include <string.h>

/* The levels below, in their order. */
static const struct stop {
	enum screen_page page;
	size_t columns[5];
	size_t nr;
	bool whole; /* all columns, also those that are known; else what is left of them */
	bool may_be_empty;
} stops[] = {
	{ PAGE_TABLE, { TOP_COLUMN_STATE, TOP_COLUMN_COMM, TOP_COLUMN_WAIT }, 3, false, true },
	{ PAGE_TABLE, { TOP_COLUMN_FILENAME, TOP_COLUMN_CONNECTION, TOP_COLUMN_LOCK }, 3, false,
	  false },
	{ PAGE_STACKS, { TOP_COLUMN_KSTACK, TOP_COLUMN_USTACK }, 2, true, false },
	{ PAGE_THREADS,
	  { TOP_COLUMN_TID, TOP_COLUMN_TGID, TOP_COLUMN_COMM, TOP_COLUMN_EXE, TOP_COLUMN_USERNAME },
	  5, true, true },
	{ PAGE_THREAD, { TOP_COLUMN_TID }, 1, true, true },
};
#define NR_STOPS (sizeof(stops) / sizeof(stops[0]))

/* A filter says what the column is. */
static bool is_known(const struct activity_query *query, size_t column)
{
	for (size_t i = 0; i < query->nr_filters; i++) {
		if (query->filters[i].column == column && !query->filters[i].out)
			return true;
	}
	return false;
}

static size_t columns_left(const struct stop *stop, const struct activity_query *query,
			   size_t *columns)
{
	size_t nr = 0, known = 0;

	for (size_t i = 0; i < stop->nr; i++) {
		known += is_known(query, stop->columns[i]);
		if (stop->whole || !is_known(query, stop->columns[i]))
			columns[nr++] = stop->columns[i];
	}
	return known == stop->nr ? 0 : nr;
}

static bool has_texts(const struct activity_row *row, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (*row->texts[i])
			return true;
	}
	return false;
}

/* 1: some sample has a text in one of the columns; 0 or -ENOMEM. */
static int has_any(const struct screen_state *state, const size_t *columns, size_t nr)
{
	struct activity_query query;
	struct activity_view view = { 0 };
	const struct activity_row *rows;
	size_t nr_rows;
	int result;

	screen_state__query(state, &query);
	query.columns = columns;
	query.nr_columns = nr;
	result = activity__group(state->activity, &query, &view);
	rows = activity_view__rows(&view, &nr_rows);
	for (size_t i = 0; i < nr_rows && !result; i++)
		result = has_texts(&rows[i], nr);
	activity_view__free(&view);
	return result;
}

/* The stop behind the one that the level is at, of those that there is something to see at. */
static int choose_stop(struct screen_state *state, size_t first)
{
	struct activity_query query;
	size_t columns[ACTIVITY_GROUP], nr;
	int found;

	for (size_t i = first; i < NR_STOPS; i++) {
		screen_state__query(state, &query);
		nr = columns_left(&stops[i], &query, columns);
		/* A single thread is the last stop, whatever is known of it. */
		if (i == NR_STOPS - 1)
			columns[0] = stops[i].columns[0], nr = 1;
		if (!nr)
			continue;
		found = stops[i].may_be_empty ? 1 : has_any(state, columns, nr);
		if (found < 0)
			return found;
		if (!found)
			continue;
		drill__regroup(state->drill, columns, nr);
		*screen_state__level(state) = (struct screen_level){ .page = stops[i].page };
		return 0;
	}
	return 0;
}

static size_t first_stop_below(enum screen_page page)
{
	size_t i = 0;

	while (page != PAGE_TABLE && stops[i].page != page)
		i++;
	return page == PAGE_TABLE ? 0 : i + 1;
}

int screen_drill__down(struct screen_state *state)
{
	const struct activity_row *row = screen_state__chosen(state);
	enum screen_page page = screen_state__level(state)->page;
	struct activity_query query;
	int err;

	if (!row || page == PAGE_THREAD || drill__depth(state->drill) + 1 == SCREEN_LEVELS)
		return 0;
	screen_state__query(state, &query);
	err = drill__down(state->drill, row, query.columns, query.nr_columns);
	if (!err)
		err = choose_stop(state, first_stop_below(page));
	state->detail_top = 0;
	state->stale = true;
	return err;
}

/* The row that this level is below will be looked for. */
static int hold_row(struct screen_state *state)
{
	const struct activity_filter *filters;
	size_t nr;
	int err = 0;

	drill__level(state->drill, drill__depth(state->drill), &filters, &nr);
	state->held.len = 0;
	for (size_t i = 0; i < nr && !err; i++)
		err = buffer__append(&state->held, filters[i].text, strlen(filters[i].text) + 1);
	return err;
}

int screen_drill__up(struct screen_state *state)
{
	int err;

	if (!drill__depth(state->drill))
		return 0;
	err = hold_row(state);
	drill__up(state->drill);
	state->stale = true;
	return err;
}

void screen_drill__regroup(struct screen_state *state, const size_t *columns, size_t nr)
{
	drill__regroup(state->drill, columns, nr);
	*screen_state__level(state) = (struct screen_level){ .page = PAGE_TABLE };
	state->stale = true;
}
