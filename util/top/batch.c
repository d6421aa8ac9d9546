/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/batch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/out_stream.h"
#include "base/units.h"
#include "top/wall_time.h"

#define BAR_WIDTH 12
#define NAME_LEN 16
/* Of the samples of an interval; the earliest ones of more are forgotten. */
#define MAX_BYTES (256ULL << 20)

_Static_assert(BATCH_COLUMNS <= ACTIVITY_GROUP, "a table groups by more than the model can");

struct batch {
	const struct batch_options *options;
	struct activity *activity;
	struct top_wire_counts counts; /* of all passes */
	uint64_t looks;
	uint64_t unseen_ns; /* that none of them stands for */
	uint64_t wall_ns;   /* of the first pass, if there was one */
	char room[BATCH_COLUMNS][TOP_COLUMN_LEN]; /* for the texts of a sample */
};

struct batch *batch__new(const struct batch_options *options)
{
	const struct activity_options of_interval = {
		.nr_columns = options->nr_columns,
		.window_ns = UINT64_MAX,
		.max_bytes = MAX_BYTES,
	};
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->options = options;
	batch->activity = activity__new(&of_interval);
	if (batch->activity)
		return batch;
	batch__delete(batch);
	return NULL;
}

void batch__delete(struct batch *batch)
{
	if (!batch)
		return;
	activity__delete(batch->activity);
	free(batch);
}

int batch__begin(struct batch *batch, const struct top_pass *pass)
{
	if (!batch->looks)
		batch->wall_ns = pass->wall_ns;
	batch->looks++;
	return activity__begin_pass(batch->activity, pass->time, pass->weight_ns);
}

int batch__add(struct batch *batch, const struct thread_sample *sample, struct top_names *names)
{
	const struct batch_options *options = batch->options;
	const struct activity_times times = thread_sample__times(sample);
	const char *columns[BATCH_COLUMNS];

	for (size_t i = 0; i < options->nr_columns; i++)
		columns[i] = top_column__put(options->columns[i], sample, names,
					     batch->room[i]);
	return activity__add(batch->activity, columns, &times);
}

int batch__add_texts(struct batch *batch, const char *const texts[TOP_COLUMNS],
		     const struct activity_times *times)
{
	const char *columns[BATCH_COLUMNS];

	for (size_t i = 0; i < batch->options->nr_columns; i++)
		columns[i] = texts[batch->options->columns[i]];
	return activity__add(batch->activity, columns, times);
}

void batch__end(struct batch *batch, const struct top_pass *pass)
{
	struct top_wire_counts *sum = &batch->counts;

	sum->seen += pass->counts.seen;
	sum->targets += pass->counts.targets;
	sum->idle += pass->counts.idle;
	sum->futex += pass->counts.futex;
	sum->filtered += pass->counts.filtered;
	sum->kept += pass->counts.kept;
	sum->moved += pass->counts.moved;
	batch->unseen_ns += pass->unseen_ns;
}

int batch__fill(struct batch *batch, uint64_t time, uint64_t ns)
{
	return activity__begin_pass(batch->activity, time, ns);
}

/* Numbers of threads are means of the looks. A recording has none of those that were left out. */
static void print_head(const struct batch *batch, const struct activity_view *view,
		       uint32_t own_ppm, FILE *out)
{
	const struct top_wire_counts *counts = &batch->counts;
	double looks = (double)max_u64(batch->looks, 1);
	char time[WALL_TIME_LEN], covered[32], all[32] = "";

	if (counts->seen)
		snprintf(all, sizeof(all), " of %.1f", (double)counts->targets / looks);
	fprintf(out, "%.19s  %s, %" PRIu64 " looks: %.2f%s threads active",
		wall_time__put(batch->wall_ns, time),
		units__format_time(view->covered_ns, covered, sizeof(covered)), batch->looks,
		view->average, all);
	if (counts->idle)
		fprintf(out, ", %.1f idle ones left out", (double)counts->idle / looks);
	if (counts->futex)
		fprintf(out, " (%.1f at a futex)", (double)counts->futex / looks);
	if (counts->filtered)
		fprintf(out, ", %.1f others by filters", (double)counts->filtered / looks);
	if (batch->unseen_ns)
		fprintf(out, "; %s not looked at",
			units__format_time(batch->unseen_ns, covered, sizeof(covered)));
	if (own_ppm)
		fprintf(out, "; for %.1f%% of a CPU", (double)own_ppm / 1e4);
	fputc('\n', out);
}

static void put_bar(double share, char *bar)
{
	size_t len = share > 0 ? (size_t)(share * BAR_WIDTH + 0.5) : 0;

	if (len > BAR_WIDTH)
		len = BAR_WIDTH;
	memset(bar, '#', len);
	bar[len] = '\0';
}

static int add_row(const struct batch *batch, struct text_table *table,
		   const struct activity_row *row)
{
	char average[32], share[32], bar[BAR_WIDTH + 1], p50[32] = "", p99[32] = "";
	const char *cells[TEXT_TABLE_COLUMNS] = { average, share, bar };
	size_t nr = batch->options->nr_columns;

	snprintf(average, sizeof(average), "%.2f", row->average);
	snprintf(share, sizeof(share), "%.1f%%", 100 * row->share);
	put_bar(row->share, bar);
	for (size_t i = 0; i < nr; i++)
		cells[3 + i] = row->texts[i];
	if (row->p50_ns)
		units__format_time(row->p50_ns, p50, sizeof(p50));
	if (row->p99_ns)
		units__format_time(row->p99_ns, p99, sizeof(p99));
	cells[3 + nr] = p50;
	cells[4 + nr] = p99;
	return text_table__add(table, cells);
}

/* The columns, with headings that live as long as the names. */
static void make_columns(const struct batch_options *options, char names[][NAME_LEN],
			 struct text_column *columns)
{
	size_t nr = 0;

	columns[nr++] = (struct text_column){ "ACTIVE", COLUMN_NUMBER, 0 };
	columns[nr++] = (struct text_column){ "SHARE", COLUMN_NUMBER, 0 };
	columns[nr++] = (struct text_column){ "", COLUMN_TEXT, 3 };
	for (size_t i = 0; i < options->nr_columns; i++) {
		char *name = names[i];

		snprintf(name, NAME_LEN, "%s", top_column__name(options->columns[i]));
		for (char *at = name; *at; at++)
			*at = (char)toupper((unsigned char)*at);
		columns[nr++] = (struct text_column){ name, COLUMN_TEXT, 0 };
	}
	for (size_t i = 0; i < 2; i++) {
		char *name = names[options->nr_columns + i];

		snprintf(name, NAME_LEN, "%s%s", activity_time__prefix(options->time),
			 i ? "P99" : "P50");
		columns[nr++] = (struct text_column){ name, COLUMN_NUMBER, (unsigned int)i + 1 };
	}
}

static int print_rows(const struct batch *batch, const struct activity_view *view, FILE *out)
{
	const struct batch_options *options = batch->options;
	struct text_column columns[TEXT_TABLE_COLUMNS];
	char names[BATCH_COLUMNS + 2][NAME_LEN];
	struct text_table table = { .columns = columns, .flush = true };
	size_t nr, shown;
	const struct activity_row *rows = activity_view__rows(view, &nr);
	int err = 0;

	make_columns(options, names, columns);
	table.nr_columns = TEXT_TABLE_COLUMNS - BATCH_COLUMNS + options->nr_columns;
	shown = nr < options->top ? nr : options->top;
	for (size_t i = 0; i < shown && !err; i++)
		err = add_row(batch, &table, &rows[i]);
	if (!err && shown) {
		text_table__fit(&table, &options->form);
		text_table__print_heading(&table, &options->form, out);
		text_table__print(&table, &options->form, 0, shown, out);
	}
	if (!err && shown < nr)
		fprintf(out, "and %zu more rows (--top)\n", nr - shown);
	text_table__free(&table);
	return err;
}

int batch__print(struct batch *batch, uint32_t own_ppm, FILE *out)
{
	size_t columns[BATCH_COLUMNS];
	struct activity_query query = {
		.until = UINT64_MAX,
		.columns = columns,
		.nr_columns = batch->options->nr_columns,
		.time = batch->options->time,
	};
	struct activity_view view = { 0 };
	int err;

	for (size_t i = 0; i < query.nr_columns; i++)
		columns[i] = i;
	err = activity__group(batch->activity, &query, &view);
	if (!err) {
		print_head(batch, &view, own_ppm, out);
		err = print_rows(batch, &view, out);
		fputc('\n', out);
	}
	if (!err)
		err = out_stream__flush(out);
	activity_view__free(&view);
	activity__clear(batch->activity);
	batch->counts = (struct top_wire_counts){ 0 };
	batch->wall_ns = batch->looks = batch->unseen_ns = 0;
	return err;
}
