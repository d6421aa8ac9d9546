/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/minmax.h"
#include "base/units.h"

/* Parts of a window. Texts are shared within a part, and freed with it. */
#define PARTS 16

struct pass {
	uint64_t time;
	uint64_t weight_ns;
	uint64_t first; /* of its samples in the part */
};

/* Most samples have the texts of an earlier one: those of all columns are kept once, as a tuple. */
struct kept {
	uint64_t tuple;
	struct activity_times times;
};

struct part {
	struct part *next; /* the one after it */
	struct strings strings;
	struct buffer tuples;	/* const char *, one for each column */
	struct idmap by_texts;	/* a hash over a tuple's texts -> its number + 1 */
	struct buffer passes;	/* struct pass */
	struct buffer samples;	/* struct kept */
};

struct activity {
	struct activity_options options;
	struct part *first;
	struct part *last;
	uint64_t nr_samples;
};

const char *activity_time__name(enum activity_time time)
{
	static const char *const names[ACTIVITY_TIMES] = { "state", "call", "request" };

	return names[time];
}

const char *activity_time__prefix(enum activity_time time)
{
	static const char *const prefixes[ACTIVITY_TIMES] = { "", "CALL ", "IORQ " };

	return prefixes[time];
}

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

static size_t tuple_size(const struct activity *activity)
{
	return activity->options.nr_columns * sizeof(const char *);
}

static size_t nr_tuples(const struct activity *activity, const struct part *part)
{
	return part->tuples.len / tuple_size(activity);
}

static const char *const *tuple_at(const struct activity *activity, const struct part *part,
				   uint64_t tuple)
{
	return (const void *)(part->tuples.data + tuple * tuple_size(activity));
}

static uint64_t nr_samples(const struct part *part)
{
	return part->samples.len / sizeof(struct kept);
}

static const struct kept *samples_of(const struct part *part)
{
	return (const void *)part->samples.data;
}

/* What its samples and texts take, without the allocator's own. */
static uint64_t part_bytes(const struct part *part)
{
	return part->strings.bytes + part->tuples.len + part->passes.len + part->samples.len +
	       (part->strings.by_hash.capacity + part->by_texts.capacity) *
		       sizeof(struct idmap_slot);
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
	activity->nr_samples -= nr_samples(part);
	strings__free(&part->strings);
	idmap__free(&part->by_texts);
	buffer__free(&part->tuples);
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

/* How long before a time a pass was; it may be of a later one, where a clock was set back. */
static uint64_t age_of(const struct pass *pass, uint64_t time)
{
	return time > pass->time ? time - pass->time : 0;
}

/* Whether a pass at that time is to begin another part. */
static bool is_full(const struct activity *activity, const struct part *part, uint64_t time)
{
	const struct activity_options *options = &activity->options;

	if (nr_passes(part) && age_of(passes_of(part), time) >= options->window_ns / PARTS)
		return true;
	if (options->max_bytes && part_bytes(part) >= options->max_bytes / PARTS)
		return true;
	return options->max_samples && nr_samples(part) >= options->max_samples / PARTS;
}

static bool is_too_much(const struct activity *activity)
{
	const struct activity_options *options = &activity->options;
	uint64_t bytes = 0;

	if (options->max_samples && activity->nr_samples > options->max_samples)
		return true;
	if (!options->max_bytes)
		return false;
	for (const struct part *part = activity->first; part; part = part->next)
		bytes += part_bytes(part);
	return bytes > options->max_bytes;
}

/* A part goes when its last pass is too old. */
static void forget_old(struct activity *activity, uint64_t time)
{
	const struct activity_options *options = &activity->options;

	while (activity->first != activity->last) {
		const struct part *part = activity->first;
		const struct pass *end = passes_of(part) + nr_passes(part) - 1;

		if (age_of(end, time) <= options->window_ns && !is_too_much(activity))
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
	pass.first = nr_samples(part);
	if (buffer__append(&part->passes, &pass, sizeof(pass)))
		return -ENOMEM;
	forget_old(activity, time);
	return 0;
}

/* The number of the tuple of these texts, which are the part's own. 0 or -ENOMEM. */
static int find_tuple(const struct activity *activity, struct part *part, const char *const *texts,
		      uint64_t *tuple)
{
	uint64_t key = 0, *value;

	for (size_t i = 0; i < activity->options.nr_columns; i++)
		key = idmap__mix(key, (uint64_t)(uintptr_t)texts[i]);
	/* Tuples of one hash take consecutive keys. */
	for (;; key++) {
		if (key == IDMAP_NONE)
			key = 0;
		value = idmap__get(&part->by_texts, key);
		if (!value)
			return -ENOMEM;
		if (!*value) {
			if (buffer__append(&part->tuples, texts, tuple_size(activity)))
				return -ENOMEM;
			*value = nr_tuples(activity, part);
		}
		*tuple = *value - 1;
		if (!memcmp(tuple_at(activity, part, *tuple), texts, tuple_size(activity)))
			return 0;
	}
}

int activity__add(struct activity *activity, const char *const *texts,
		  const struct activity_times *times)
{
	struct part *part = activity->last;
	const char *own[ACTIVITY_COLUMNS];
	struct kept kept = { .times = *times };
	int err;

	for (size_t i = 0; i < activity->options.nr_columns; i++) {
		own[i] = strings__get(&part->strings, texts[i]);
		if (!own[i])
			return -ENOMEM;
	}
	err = find_tuple(activity, part, own, &kept.tuple);
	if (!err)
		err = buffer__append(&part->samples, &kept, sizeof(kept));
	if (!err)
		activity->nr_samples++;
	return err;
}

bool activity__span(const struct activity *activity, uint64_t *oldest, uint64_t *latest)
{
	if (!activity->first)
		return false;
	*oldest = passes_of(activity->first)->time;
	*latest = passes_of(activity->last)[nr_passes(activity->last) - 1].time;
	return true;
}

/* Of a sample that passes the filters: its row, and its time. */
struct met {
	uint64_t row;
	uint64_t ns;
};

struct grouping {
	const struct activity_query *query;
	struct activity_view *view;
	struct idmap rows; /* by the hash of their texts -> index + 1 */
	struct buffer met; /* struct met */
	struct buffer row_of; /* uint64_t for each tuple of a part: its row + ROW_FIRST, or */
};

/* The tuple was not looked at yet, or does not pass the filters. */
enum { ROW_UNKNOWN, ROW_NONE, ROW_FIRST };

static bool passes_filters(const struct activity_query *query, const char *const *texts)
{
	for (size_t i = 0; i < query->nr_filters; i++) {
		const struct activity_filter *filter = &query->filters[i];

		if (!strcmp(texts[filter->column], filter->text) == filter->out)
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

/* Finds the row of a sample's texts, or makes it. 0 or -ENOMEM. */
static int find_row(struct grouping *grouping, const char *const *of_sample, uint64_t *index)
{
	size_t nr = grouping->query->nr_columns;
	const char *texts[ACTIVITY_GROUP];
	uint64_t key = 0, *value;

	for (size_t i = 0; i < nr; i++) {
		texts[i] = strings__get(&grouping->view->strings,
					of_sample[grouping->query->columns[i]]);
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

/* Looks at each tuple of a part once, whatever the number of its samples. */
static int row_of_tuple(struct grouping *grouping, const char *const *texts, uint64_t *row)
{
	uint64_t index;
	int err;

	if (!passes_filters(grouping->query, texts)) {
		*row = ROW_NONE;
		return 0;
	}
	err = find_row(grouping, texts, &index);
	if (!err)
		*row = index + ROW_FIRST;
	return err;
}

static int take_sample(struct grouping *grouping, uint64_t index, uint64_t ns, uint64_t weight_ns)
{
	struct activity_row *row = row_at(grouping->view, index);
	struct met met = { .row = index, .ns = ns };

	row->samples++;
	row->weight_ns = add_saturated_u64(row->weight_ns, weight_ns);
	grouping->view->samples++;
	grouping->view->weight_ns = add_saturated_u64(grouping->view->weight_ns, weight_ns);
	return ns ? buffer__append(&grouping->met, &met, sizeof(met)) : 0;
}

/* Where the samples of a pass end. */
static uint64_t end_of(const struct part *part, size_t index)
{
	return index + 1 < nr_passes(part) ? passes_of(part)[index + 1].first : nr_samples(part);
}

static int take_pass(struct grouping *grouping, const struct activity *activity,
		     const struct part *part, size_t index)
{
	const struct pass *pass = &passes_of(part)[index];
	uint64_t end = end_of(part, index), *rows = (void *)grouping->row_of.data;
	const struct kept *samples = samples_of(part);
	int err = 0;

	if (pass->time < grouping->query->from || pass->time >= grouping->query->until)
		return 0;
	grouping->view->passes++;
	grouping->view->covered_ns =
		add_saturated_u64(grouping->view->covered_ns, pass->weight_ns);
	for (uint64_t i = pass->first; i < end && !err; i++) {
		uint64_t *row = &rows[samples[i].tuple];

		if (*row == ROW_UNKNOWN)
			err = row_of_tuple(grouping, tuple_at(activity, part, samples[i].tuple),
					   row);
		if (!err && *row >= ROW_FIRST)
			err = take_sample(grouping, *row - ROW_FIRST,
					  samples[i].times.ns[grouping->query->time],
					  pass->weight_ns);
	}
	return err;
}

static int take_part(struct grouping *grouping, const struct activity *activity,
		     const struct part *part)
{
	size_t size = nr_tuples(activity, part) * sizeof(uint64_t);
	int err = 0;

	grouping->row_of.len = 0;
	if (!buffer__reserve(&grouping->row_of, size + 1))
		return -ENOMEM;
	memset(grouping->row_of.data, 0, size);
	for (size_t i = 0; i < nr_passes(part) && !err; i++)
		err = take_pass(grouping, activity, part, i);
	return err;
}

static int compare_met(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->ns == y->ns ? 0 : x->ns < y->ns ? -1 : 1;
}

/* The least value that so many per cent of all do not exceed. */
static uint64_t percentile(const struct met *met, size_t nr, unsigned int percent)
{
	return met[(nr * percent + 99) / 100 - 1].ns;
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
	for (const struct part *part = activity->first; part && !err; part = part->next)
		err = take_part(&grouping, activity, part);
	if (!err) {
		find_percentiles(&grouping);
		finish_rows(view);
	}
	idmap__free(&grouping.rows);
	buffer__free(&grouping.met);
	buffer__free(&grouping.row_of);
	return err;
}

/* Steps of time, as they are filled. */
struct stepping {
	const struct activity_query *query;
	size_t column;
	struct activity_steps *steps;
	struct buffer kind_of; /* a byte for each tuple of a part: its kind + KIND_FIRST, or */
};

/* The same as for rows. */
enum { KIND_UNKNOWN, KIND_NONE, KIND_FIRST };

/* What finds no place any more is of the last kind. */
static size_t find_kind(struct activity_steps *steps, const char *text)
{
	size_t i = 0;

	while (i < steps->nr_kinds && strcmp(steps->kinds[i], text) != 0)
		i++;
	if (i == ACTIVITY_KINDS)
		return i - 1;
	if (i == steps->nr_kinds)
		snprintf(steps->kinds[steps->nr_kinds++], ACTIVITY_KIND_LEN, "%s", text);
	return i;
}

size_t activity__band(uint64_t ns)
{
	size_t band = 0;

	for (uint64_t least = 10 * NSEC_PER_USEC; band < ACTIVITY_BANDS - 1 && ns >= least;
	     least *= 10)
		band++;
	return band;
}

/* Samples of a pass. */
struct counts {
	uint64_t kinds[ACTIVITY_KINDS];
	uint64_t bands[ACTIVITY_BANDS];
};

/* The time that a pass stands for ends with it. */
static uint64_t begin_of(const struct pass *pass)
{
	return pass->time > pass->weight_ns ? pass->time - pass->weight_ns : 0;
}

static void add_times(uint64_t *sum, uint64_t nr, uint64_t ns)
{
	*sum = add_saturated_u64(*sum, mul_saturated_u64(nr, ns));
}

/* A pass stands for the time before it, which may be in several steps. */
static void spread(struct activity_steps *steps, const struct pass *pass,
		   const struct counts *counts)
{
	uint64_t begin = max_u64(begin_of(pass), steps->from), next, length;
	uint64_t to = steps->from + steps->nr * steps->step_ns;

	for (uint64_t end = min_u64(pass->time, to); begin < end; begin = next) {
		size_t i = (begin - steps->from) / steps->step_ns;
		struct activity_step *step = &steps->steps[i];

		next = min_u64(end, steps->from + (i + 1) * steps->step_ns);
		length = next - begin;
		step->covered_ns = add_saturated_u64(step->covered_ns, length);
		for (size_t kind = 0; kind < steps->nr_kinds; kind++)
			add_times(&step->weight_ns[kind], counts->kinds[kind], length);
		for (size_t band = 0; band < ACTIVITY_BANDS; band++)
			add_times(&step->band_ns[band], counts->bands[band], length);
	}
}

static void step_pass(struct stepping *stepping, const struct activity *activity,
		      const struct part *part, size_t index)
{
	const struct kept *samples = samples_of(part);
	uint64_t end = end_of(part, index), ns;
	struct counts counts = { 0 };
	unsigned char *kinds = (void *)stepping->kind_of.data;

	for (uint64_t i = passes_of(part)[index].first; i < end; i++) {
		unsigned char *kind = &kinds[samples[i].tuple];
		const char *const *texts = tuple_at(activity, part, samples[i].tuple);

		if (*kind == KIND_UNKNOWN)
			*kind = !passes_filters(stepping->query, texts) ? KIND_NONE :
				(unsigned char)(find_kind(stepping->steps,
							  texts[stepping->column]) + KIND_FIRST);
		if (*kind < KIND_FIRST)
			continue;
		counts.kinds[*kind - KIND_FIRST]++;
		ns = samples[i].times.ns[stepping->query->time];
		if (ns)
			counts.bands[activity__band(ns)]++;
	}
	spread(stepping->steps, &passes_of(part)[index], &counts);
}

int activity__steps(const struct activity *activity, const struct activity_query *query,
		    size_t column, struct activity_steps *steps)
{
	struct stepping stepping = { .query = query, .column = column, .steps = steps };
	uint64_t to = steps->from + steps->nr * steps->step_ns;
	int err = 0;

	steps->nr_kinds = 0;
	memset(steps->steps, 0, steps->nr * sizeof(*steps->steps));
	for (const struct part *part = activity->first; part && !err; part = part->next) {
		size_t size = nr_tuples(activity, part);

		stepping.kind_of.len = 0;
		if (!buffer__reserve(&stepping.kind_of, size + 1))
			err = -ENOMEM;
		else
			memset(stepping.kind_of.data, 0, size);
		for (size_t i = 0; i < nr_passes(part) && !err; i++) {
			const struct pass *pass = &passes_of(part)[i];

			if (pass->time > steps->from && begin_of(pass) < to)
				step_pass(&stepping, activity, part, i);
		}
	}
	buffer__free(&stepping.kind_of);
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
