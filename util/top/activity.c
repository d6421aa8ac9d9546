/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/minmax.h"

/* Parts of a window. Texts are shared within a part, and freed with it. */
#define PARTS 16

struct pass {
	uint64_t time;
	uint64_t weight_ns;
	uint64_t first; /* of its samples in the part */
};

/* A sample is its time in the state, and a text for each column behind it. */
struct part {
	struct part *next; /* the one after it */
	struct strings strings;
	struct buffer passes;  /* struct pass */
	struct buffer samples; /* uint64_t, then const char *, for each sample */
};

struct activity {
	struct activity_options options;
	struct part *first;
	struct part *last;
	uint64_t nr_samples;
};

struct activity *activity__new(const struct activity_options *options)
{
	struct activity *activity = calloc(1, sizeof(*activity));

	if (activity)
		activity->options = *options;
	return activity;
}

void activity__delete(struct activity *activity)
{
	if (!activity)
		return;
	activity__clear(activity);
	free(activity);
}

static size_t sample_size(const struct activity *activity)
{
	return sizeof(uint64_t) + activity->options.nr_columns * sizeof(const char *);
}

static uint64_t nr_samples(const struct activity *activity, const struct part *part)
{
	return part->samples.len / sample_size(activity);
}

static size_t nr_passes(const struct part *part)
{
	return part->passes.len / sizeof(struct pass);
}

static struct pass *passes_of(const struct part *part)
{
	return (struct pass *)(void *)part->passes.data;
}

static void forget_first(struct activity *activity)
{
	struct part *part = activity->first;

	activity->first = part->next;
	if (!activity->first)
		activity->last = NULL;
	activity->nr_samples -= nr_samples(activity, part);
	strings__free(&part->strings);
	buffer__free(&part->passes);
	buffer__free(&part->samples);
	free(part);
}

void activity__clear(struct activity *activity)
{
	while (activity->first)
		forget_first(activity);
}

static struct part *add_part(struct activity *activity)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	if (activity->last)
		activity->last->next = part;
	else
		activity->first = part;
	activity->last = part;
	return part;
}

/* Whether a pass at that time is to begin another part. */
static bool is_full(const struct activity *activity, const struct part *part, uint64_t time)
{
	const struct activity_options *options = &activity->options;

	if (nr_passes(part) && time - passes_of(part)->time >= options->window_ns / PARTS)
		return true;
	return options->max_samples &&
	       nr_samples(activity, part) >= options->max_samples / PARTS;
}

/* A part goes when its last pass is too old. */
static void forget_old(struct activity *activity, uint64_t time)
{
	const struct activity_options *options = &activity->options;

	while (activity->first != activity->last) {
		const struct part *part = activity->first;
		uint64_t end = passes_of(part)[nr_passes(part) - 1].time;

		if (time - end <= options->window_ns &&
		    (!options->max_samples || activity->nr_samples <= options->max_samples))
			return;
		forget_first(activity);
	}
}

int activity__begin_pass(struct activity *activity, uint64_t time, uint64_t weight_ns)
{
	struct part *part = activity->last;
	struct pass pass = { .time = time, .weight_ns = weight_ns };

	if (!part || is_full(activity, part, time))
		part = add_part(activity);
	if (!part)
		return -ENOMEM;
	pass.first = nr_samples(activity, part);
	if (buffer__append(&part->passes, &pass, sizeof(pass)))
		return -ENOMEM;
	forget_old(activity, time);
	return 0;
}

int activity__add(struct activity *activity, const char *const *texts, uint64_t state_ns)
{
	struct part *part = activity->last;
	size_t nr = activity->options.nr_columns;
	char *room = buffer__reserve(&part->samples, sample_size(activity));
	const char *text;

	if (!room)
		return -ENOMEM;
	memcpy(room, &state_ns, sizeof(state_ns));
	for (size_t i = 0; i < nr; i++) {
		text = strings__get(&part->strings, texts[i]);
		if (!text)
			return -ENOMEM;
		memcpy(room + sizeof(state_ns) + i * sizeof(text), &text, sizeof(text));
	}
	part->samples.len += sample_size(activity);
	activity->nr_samples++;
	return 0;
}

bool activity__span(const struct activity *activity, uint64_t *oldest, uint64_t *latest)
{
	if (!activity->first)
		return false;
	*oldest = passes_of(activity->first)->time;
	*latest = passes_of(activity->last)[nr_passes(activity->last) - 1].time;
	return true;
}

/* One sample, as it is looked at. */
struct look {
	const char *const *texts;
	uint64_t state_ns;
	uint64_t weight_ns;
};

/* Of a sample that passes the filters: its row, and how long its thread has been in its state. */
struct met {
	uint64_t row;
	uint64_t state_ns;
};

struct grouping {
	const struct activity_query *query;
	struct activity_view *view;
	struct idmap rows; /* by the hash of their texts -> index + 1 */
	struct buffer met; /* struct met */
};

static bool passes_filters(const struct activity_query *query, const struct look *look)
{
	for (size_t i = 0; i < query->nr_filters; i++) {
		const struct activity_filter *filter = &query->filters[i];

		if (!strcmp(look->texts[filter->column], filter->text) == filter->out)
			return false;
	}
	return true;
}

static struct activity_row *row_at(const struct activity_view *view, uint64_t index)
{
	return (struct activity_row *)(void *)view->rows.data + index;
}

/* Makes the row of these texts, which are the view's own. Its index + 1; 0: no memory. */
static uint64_t add_row(struct grouping *grouping, const char *const *texts)
{
	struct activity_row row = { 0 };

	for (size_t i = 0; i < grouping->query->nr_columns; i++)
		row.texts[i] = texts[i];
	if (buffer__append(&grouping->view->rows, &row, sizeof(row)))
		return 0;
	return grouping->view->rows.len / sizeof(row);
}

static bool has_texts(const struct activity_row *row, const char *const *texts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (row->texts[i] != texts[i])
			return false;
	}
	return true;
}

/* Finds the row of a sample, or makes it. 0 or -ENOMEM. */
static int find_row(struct grouping *grouping, const struct look *look, uint64_t *index)
{
	size_t nr = grouping->query->nr_columns;
	const char *texts[ACTIVITY_GROUP];
	uint64_t key = 0, *value;

	for (size_t i = 0; i < nr; i++) {
		texts[i] = strings__get(&grouping->view->strings,
					look->texts[grouping->query->columns[i]]);
		if (!texts[i])
			return -ENOMEM;
		key = idmap__mix(key, (uint64_t)(uintptr_t)texts[i]);
	}
	/* Rows of one hash take consecutive keys. */
	for (;; key++) {
		if (key == IDMAP_NONE)
			key = 0;
		value = idmap__get(&grouping->rows, key);
		if (!value)
			return -ENOMEM;
		if (!*value)
			*value = add_row(grouping, texts);
		if (!*value)
			return -ENOMEM;
		*index = *value - 1;
		if (has_texts(row_at(grouping->view, *index), texts, nr))
			return 0;
	}
}

static int take_sample(struct grouping *grouping, const struct look *look)
{
	struct activity_row *row;
	struct met met = { .state_ns = look->state_ns };
	int err;

	if (!passes_filters(grouping->query, look))
		return 0;
	err = find_row(grouping, look, &met.row);
	if (err)
		return err;
	row = row_at(grouping->view, met.row);
	row->samples++;
	row->weight_ns += look->weight_ns;
	grouping->view->samples++;
	grouping->view->weight_ns += look->weight_ns;
	return met.state_ns ? buffer__append(&grouping->met, &met, sizeof(met)) : 0;
}

static int take_pass(struct grouping *grouping, const struct activity *activity,
		     const struct part *part, size_t index)
{
	const struct pass *pass = &passes_of(part)[index];
	uint64_t end = index + 1 < nr_passes(part) ? pass[1].first : nr_samples(activity, part);
	int err = 0;

	if (pass->time < grouping->query->from || pass->time >= grouping->query->until)
		return 0;
	grouping->view->passes++;
	grouping->view->covered_ns += pass->weight_ns;
	for (uint64_t i = pass->first; i < end && !err; i++) {
		const char *at = part->samples.data + i * sample_size(activity);
		struct look look = {
			.texts = (const void *)(at + sizeof(uint64_t)),
			.weight_ns = pass->weight_ns,
		};

		memcpy(&look.state_ns, at, sizeof(look.state_ns));
		err = take_sample(grouping, &look);
	}
	return err;
}

static int compare_met(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->state_ns == y->state_ns ? 0 : x->state_ns < y->state_ns ? -1 : 1;
}

/* The least value that so many per cent of all do not exceed. */
static uint64_t percentile(const struct met *met, size_t nr, unsigned int percent)
{
	return met[(nr * percent + 99) / 100 - 1].state_ns;
}

static void find_percentiles(struct grouping *grouping)
{
	struct met *met = (void *)grouping->met.data;
	size_t nr = grouping->met.len / sizeof(*met), end;

	if (nr)
		qsort(met, nr, sizeof(*met), compare_met);
	for (size_t i = 0; i < nr; i = end) {
		struct activity_row *row = row_at(grouping->view, met[i].row);

		for (end = i; end < nr && met[end].row == met[i].row;)
			end++;
		row->p50_ns = percentile(met + i, end - i, 50);
		row->p99_ns = percentile(met + i, end - i, 99);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct activity_row *x = a, *y = b;
	int order = 0;

	if (x->weight_ns != y->weight_ns)
		return x->weight_ns > y->weight_ns ? -1 : 1;
	for (size_t i = 0; i < ACTIVITY_GROUP && x->texts[i] && !order; i++)
		order = strcmp(x->texts[i], y->texts[i]);
	return order;
}

static void finish_rows(struct activity_view *view)
{
	size_t nr = view->rows.len / sizeof(struct activity_row);
	double covered = (double)max_u64(view->covered_ns, 1);

	view->average = (double)view->weight_ns / covered;
	for (size_t i = 0; i < nr; i++) {
		struct activity_row *row = row_at(view, i);

		row->average = (double)row->weight_ns / covered;
		row->share = (double)row->weight_ns / (double)max_u64(view->weight_ns, 1);
	}
	if (nr)
		qsort(row_at(view, 0), nr, sizeof(struct activity_row), compare_rows);
}

int activity__group(const struct activity *activity, const struct activity_query *query,
		    struct activity_view *view)
{
	struct grouping grouping = { .query = query, .view = view };
	int err = 0;

	activity_view__free(view);
	for (const struct part *part = activity->first; part && !err; part = part->next) {
		for (size_t i = 0; i < nr_passes(part) && !err; i++)
			err = take_pass(&grouping, activity, part, i);
	}
	if (!err) {
		find_percentiles(&grouping);
		finish_rows(view);
	}
	idmap__free(&grouping.rows);
	buffer__free(&grouping.met);
	return err;
}

const struct activity_row *activity_view__rows(const struct activity_view *view, size_t *nr)
{
	*nr = view->rows.len / sizeof(struct activity_row);
	return row_at(view, 0);
}

void activity_view__free(struct activity_view *view)
{
	buffer__free(&view->rows);
	strings__free(&view->strings);
	*view = (struct activity_view){ 0 };
}
