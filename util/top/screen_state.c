/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"

#define FIRST_WINDOW_NS (10 * NSEC_PER_SEC)

int screen_state__init(struct screen_state *state, const struct activity *activity,
		       const enum top_column *columns, size_t nr)
{
	size_t numbers[ACTIVITY_GROUP];

	*state = (struct screen_state){ .activity = activity, .window_ns = FIRST_WINDOW_NS,
					.page_lines = 1, .stale = true };
	for (size_t i = 0; i < nr; i++)
		numbers[i] = columns[i];
	state->drill = drill__new(numbers, nr);
	return state->drill ? 0 : -ENOMEM;
}

void screen_state__free(struct screen_state *state)
{
	drill__delete(state->drill);
	activity_view__free(&state->view);
	buffer__free(&state->rows);
	buffer__free(&state->held);
	state->drill = NULL;
}

struct screen_level *screen_state__level(struct screen_state *state)
{
	return &state->levels[drill__depth(state->drill)];
}

const struct activity_row *const *screen_state__rows(const struct screen_state *state, size_t *nr)
{
	*nr = state->rows.len / sizeof(const struct activity_row *);
	return (const void *)state->rows.data;
}

const struct activity_row *screen_state__chosen(const struct screen_state *state)
{
	size_t nr, at = state->levels[drill__depth(state->drill)].at;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);

	return at < nr ? rows[at] : NULL;
}

void screen_state__query(const struct screen_state *state, struct activity_query *query)
{
	uint64_t end = state->until ? state->until : state->latest + 1;

	*query = (struct activity_query){ .until = state->until ? state->until : UINT64_MAX,
					  .time = state->time };
	if (state->window_ns && end > state->window_ns)
		query->from = end - state->window_ns;
	drill__query(state->drill, query);
}

void screen_state__set_page(struct screen_state *state, size_t lines)
{
	struct screen_level *level = screen_state__level(state);
	size_t nr;

	screen_state__rows(state, &nr);
	state->page_lines = max_u64(lines, 1);
	level->at = min_u64(level->at, nr ? nr - 1 : 0);
	level->top = min_u64(level->top, level->at);
	/* No line stays empty as long as there are rows above. */
	level->top = min_u64(level->top, nr - min_u64(nr, state->page_lines));
	if (level->at >= level->top + state->page_lines)
		level->top = level->at - state->page_lines + 1;
}

void screen_state__choose(struct screen_state *state, size_t row)
{
	struct screen_level *level = screen_state__level(state);
	size_t nr;

	screen_state__rows(state, &nr);
	level->at = min_u64(row, nr ? nr - 1 : 0);
	level->moved = level->at != 0;
	state->detail_top = 0;
	screen_state__set_page(state, state->page_lines);
}

const char *screen_state__match(const struct screen_state *state, const char *text)
{
	return *state->search ? strcasestr(text, state->search) : NULL;
}

/* The order of rows. */
struct order {
	const struct screen_level *level;
	const size_t *columns;
	size_t nr_columns;
};

static int compare_texts(const struct order *order, const struct activity_row *a,
			 const struct activity_row *b)
{
	size_t column = order->level->sort - SORT_COLUMNS;

	if (column >= order->nr_columns)
		return 0;
	return top_column__compare((enum top_column)order->columns[column], a->texts[column],
				   b->texts[column]);
}

static int compare_numbers(uint64_t x, uint64_t y)
{
	return x == y ? 0 : x > y ? -1 : 1;
}

/* Rows that are equal stay in the order of their weight, which is that of their addresses. */
static int compare_rows(const void *left, const void *right, void *ctx)
{
	const struct activity_row *a = *(const struct activity_row *const *)left;
	const struct activity_row *b = *(const struct activity_row *const *)right;
	const struct order *order = ctx;
	int result = 0;

	if (order->level->sort == SORT_P50)
		result = compare_numbers(a->p50_ns, b->p50_ns);
	else if (order->level->sort == SORT_P99)
		result = compare_numbers(a->p99_ns, b->p99_ns);
	else if (order->level->sort >= SORT_COLUMNS)
		result = compare_texts(order, a, b);
	if (!result)
		result = a < b ? -1 : 1;
	return order->level->reversed ? -result : result;
}

static int sort_rows(struct screen_state *state, const struct activity_query *query)
{
	struct order order = { .level = screen_state__level(state), .columns = query->columns,
			       .nr_columns = query->nr_columns };
	size_t nr;
	const struct activity_row *rows = activity_view__rows(&state->view, &nr);
	const struct activity_row **sorted;

	state->rows.len = 0;
	sorted = buffer__reserve(&state->rows, (nr + 1) * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = &rows[i];
	state->rows.len = nr * sizeof(*sorted);
	qsort_r(sorted, nr, sizeof(*sorted), compare_rows, &order);
	return 0;
}

/* The texts go with the view that they are of. */
static int hold_chosen(struct screen_state *state, size_t nr_columns)
{
	const struct activity_row *row = screen_state__chosen(state);
	int err = 0;

	state->held.len = 0;
	for (size_t i = 0; row && i < nr_columns && !err; i++)
		err = buffer__append(&state->held, row->texts[i], strlen(row->texts[i]) + 1);
	return err;
}

static bool is_held(const struct screen_state *state, const struct activity_row *row, size_t nr)
{
	const char *at = state->held.data, *end = at + state->held.len;

	for (size_t i = 0; i < nr; i++) {
		if (at >= end || strcmp(at, row->texts[i]) != 0)
			return false;
		at += strlen(at) + 1;
	}
	return at == end;
}

/* A row that is gone for a moment keeps its place for those behind it. */
static void find_chosen(struct screen_state *state, size_t nr_columns)
{
	struct screen_level *level = screen_state__level(state);
	size_t nr;
	const struct activity_row *const *rows = screen_state__rows(state, &nr);
	size_t at = level->at;

	if (!level->moved)
		at = 0;
	for (size_t i = 0; level->moved && state->held.len && i < nr; i++) {
		if (is_held(state, rows[i], nr_columns)) {
			at = i;
			break;
		}
	}
	level->at = at;
	screen_state__set_page(state, state->page_lines);
}

int screen_state__refresh(struct screen_state *state)
{
	struct activity_query query;
	int err = 0;

	if (!activity__span(state->activity, &state->oldest, &state->latest))
		state->oldest = state->latest = 0;
	screen_state__query(state, &query);
	/* The rows of another place tell nothing of this one. */
	if (!state->stale)
		err = hold_chosen(state, query.nr_columns);
	if (!err)
		err = activity__group(state->activity, &query, &state->view);
	if (!err)
		err = sort_rows(state, &query);
	if (!err)
		find_chosen(state, query.nr_columns);
	state->held.len = 0;
	state->stale = false;
	return err;
}
