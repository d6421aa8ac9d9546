/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"
#include "top/screen_choices.h"

/* Time that it shows at least, of what is live. */
#define LEAST_NS (300 * NSEC_PER_SEC)
#define MOST_NS (900 * NSEC_PER_SEC)
#define MOST_STEPS SCREEN_GRAPH_MOST
#define LABEL_COLUMNS SCREEN_GRAPH_LABEL
#define EIGHTHS 8

/* From the bottom up; others come on top. */
static const struct {
	const char *state;
	const char *letter;
	enum canvas_style style;
} kinds[] = {
	{ "RUN", "R", STYLE_GREEN },   { "RUNQ", "Q", STYLE_YELLOW }, { "DISK", "D", STYLE_RED },
	{ "SLEEP", "S", STYLE_BLUE },  { "IDLE", "I", STYLE_CYAN },   { "", "x", STYLE_MAGENTA },
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct graph {
	struct activity_steps steps;
	struct activity_step step[MOST_STEPS];
	double averages[MOST_STEPS][NR_KINDS];
	double totals[MOST_STEPS];
	double most; /* that a bar can show */
};

static size_t kind_of(const char *state)
{
	size_t i = 0;

	while (i < NR_KINDS - 1 && strcmp(kinds[i].state, state) != 0)
		i++;
	return i;
}

enum canvas_style screen_graph__style(const char *state)
{
	return kinds[kind_of(state)].style;
}

/* Steps have whole multiples of their length as times, so that what is over stays as it is. */
static void choose_steps(const struct screen_state *state, struct activity_steps *steps, size_t nr)
{
	uint64_t span = state->window_ns ? max_u64(state->window_ns, LEAST_NS) : MOST_NS;
	uint64_t end = state->latest;

	if (state->recorded)
		span = state->latest - state->oldest + 1;
	steps->nr = nr;
	steps->step_ns = max_u64((span + nr - 1) / nr, NSEC_PER_MSEC);
	end = (end / steps->step_ns + 1) * steps->step_ns;
	steps->from = end - min_u64(end, nr * steps->step_ns);
}

int screen_graph__steps(const struct screen_state *state, size_t nr, struct activity_steps *steps)
{
	struct activity_query query;

	choose_steps(state, steps, nr);
	screen_state__query(state, &query);
	return activity__steps(state->activity, &query, TOP_COLUMN_STATE, steps);
}

size_t screen_graph__put_span(const struct activity_steps *steps, struct canvas *canvas,
			      size_t line)
{
	uint64_t seconds = steps->nr * steps->step_ns / NSEC_PER_SEC;
	char text[64], span[32];

	screen_choices__put_window(max_u64(seconds, 1) * NSEC_PER_SEC, span, sizeof(span));
	snprintf(text, sizeof(text), "last %s:  ", span);
	return LABEL_COLUMNS +
	       canvas__put(canvas, line, LABEL_COLUMNS, SIZE_MAX, STYLE_DIM, text);
}

/* The next one of 1, 2, 3, 4, 5, 6, 8, 10, 20, 30 and so on. */
static double round_up(double value)
{
	static const double steps[] = { 1, 2, 3, 4, 5, 6, 8 };
	double unit = 1;

	while (unit * 10 < value)
		unit *= 10;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (value <= steps[i] * unit)
			return steps[i] * unit;
	}
	return 10 * unit;
}

static void find_averages(struct graph *graph)
{
	double most = 0;

	for (size_t i = 0; i < graph->steps.nr; i++) {
		double covered = (double)max_u64(graph->step[i].covered_ns, 1);

		for (size_t j = 0; j < graph->steps.nr_kinds; j++) {
			double average = (double)graph->step[i].weight_ns[j] / covered;

			graph->averages[i][kind_of(graph->steps.kinds[j])] += average;
			graph->totals[i] += average;
		}
		if (graph->totals[i] > most)
			most = graph->totals[i];
	}
	graph->most = round_up(most);
}

/* Without colours, letters tell the states. */
static bool has_blocks(const struct canvas *canvas)
{
	return canvas->utf8 && canvas->colours;
}

/* The kind that is at a height of a bar. */
static size_t kind_at(const double *averages, double height)
{
	double sum = 0;

	for (size_t i = 0; i < NR_KINDS; i++) {
		sum += averages[i];
		if (height < sum)
			return i;
	}
	return NR_KINDS;
}

static void paint_cell(const struct graph *graph, struct canvas *canvas, size_t line, size_t column,
		       size_t step, double bottom, double top)
{
	static const char *const blocks[] = { "",  "▁", "▂", "▃", "▄",
					      "▅", "▆", "▇", "█" };
	double total = graph->totals[step], part = (total - bottom) / (top - bottom);
	double middle = total < top ? (bottom + total) / 2 : (bottom + top) / 2;
	size_t kind = kind_at(graph->averages[step], middle), eighths;

	if (part <= 0 || kind == NR_KINDS)
		return;
	eighths = part >= 1 ? EIGHTHS : (size_t)(part * EIGHTHS + 0.5);
	if (bottom <= 0 && !eighths)
		eighths = 1;
	if (!eighths)
		return;
	if (has_blocks(canvas))
		canvas__set(canvas, line, column, kinds[kind].style, blocks[eighths]);
	else if (eighths * 2 >= EIGHTHS)
		canvas__set(canvas, line, column, kinds[kind].style, kinds[kind].letter);
	else if (bottom <= 0)
		canvas__set(canvas, line, column, kinds[kind].style, ".");
}

static void paint_bars(const struct graph *graph, struct canvas *canvas, size_t line, size_t lines)
{
	double unit = graph->most / (double)lines;
	char label[32];

	snprintf(label, sizeof(label), "%.0f", graph->most);
	canvas__put_right(canvas, line, 0, LABEL_COLUMNS - 1, STYLE_DIM, label);
	for (size_t i = 0; i < lines; i++) {
		double bottom = unit * (double)(lines - 1 - i);

		canvas__set(canvas, line + i, LABEL_COLUMNS - 1, STYLE_DIM,
			    canvas->utf8 ? "│" : "|");
		for (size_t step = 0; step < graph->steps.nr; step++) {
			if (graph->step[step].covered_ns)
				paint_cell(graph, canvas, line + i, LABEL_COLUMNS + step, step,
					   bottom, bottom + unit);
		}
	}
}

/* Averages of the steps that are in the window, or mostly so. */
static void sum_window(const struct graph *graph, const struct activity_query *query, double *sums)
{
	uint64_t half = graph->steps.step_ns / 2;
	double covered = 0;

	for (size_t i = 0; i < graph->steps.nr; i++) {
		uint64_t middle = graph->steps.from + i * graph->steps.step_ns + half;

		if (middle + half < query->from || middle - half >= query->until)
			continue;
		covered += (double)graph->step[i].covered_ns;
		for (size_t j = 0; j < NR_KINDS; j++)
			sums[j] += graph->averages[i][j] * (double)graph->step[i].covered_ns;
	}
	for (size_t j = 0; j < NR_KINDS && covered > 0; j++)
		sums[j] /= covered;
}

static void paint_legend(const struct graph *graph, const struct activity_query *query,
			 struct canvas *canvas, size_t line)
{
	double sums[NR_KINDS] = { 0 };
	size_t at = screen_graph__put_span(&graph->steps, canvas, line);
	char text[64];

	sum_window(graph, query, sums);
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (sums[i] <= 0)
			continue;
		snprintf(text, sizeof(text), "%s%s%s %.2f  ",
			 has_blocks(canvas) ? "" : kinds[i].letter, has_blocks(canvas) ? "" : "=",
			 *kinds[i].state ? kinds[i].state : "others", sums[i]);
		at += canvas__put(canvas, line, at, SIZE_MAX, kinds[i].style, text);
	}
}

int screen_graph__paint(const struct screen_state *state, struct canvas *canvas, size_t line,
			size_t lines)
{
	size_t nr = min_u64(canvas->columns - LABEL_COLUMNS, MOST_STEPS);
	struct graph *graph;
	struct activity_query query;
	int err;

	if (lines < 2 || canvas->columns <= LABEL_COLUMNS || !state->latest)
		return 0;
	graph = calloc(1, sizeof(*graph));
	if (!graph)
		return -ENOMEM;
	graph->steps.steps = graph->step;
	screen_state__query(state, &query);
	err = screen_graph__steps(state, nr, &graph->steps);
	if (!err) {
		find_averages(graph);
		paint_bars(graph, canvas, line, lines - 1);
		paint_legend(graph, &query, canvas, line + lines - 1);
	}
	free(graph);
	return err;
}
