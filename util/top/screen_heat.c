/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/screen_heat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "top/screen_graph.h"

#define LABEL_COLUMNS SCREEN_GRAPH_LABEL
#define NR_SHADES 4

/* Where each band begins. */
static const char *const labels[ACTIVITY_BANDS] = { "0",    "10us",  "100us", "1ms",
						    "10ms", "100ms", "1s",    "10s" };

static const struct {
	const char *block;
	const char *letter;
	enum canvas_style style;
} shades[NR_SHADES] = {
	{ "░", ".", STYLE_BLUE },
	{ "▒", ":", STYLE_CYAN },
	{ "▓", "*", STYLE_YELLOW },
	{ "█", "#", STYLE_RED },
};

struct heat {
	struct activity_steps steps;
	struct activity_step step[SCREEN_GRAPH_MOST];
	size_t low, high; /* bands that are shown; low has those below it, too */
	double most;	  /* threads in the darkest cell */
};

/* The threads that were in a band at one time; in the lowest one that is shown, or below. */
static double average(const struct heat *heat, size_t step, size_t band)
{
	const struct activity_step *at = &heat->step[step];
	uint64_t ns = at->band_ns[band];

	for (size_t i = 0; band == heat->low && i < band; i++)
		ns += at->band_ns[i];
	return at->covered_ns ? (double)ns / (double)at->covered_ns : 0;
}

static bool has_band(const struct heat *heat, size_t band)
{
	for (size_t i = 0; i < heat->steps.nr; i++) {
		if (heat->step[i].band_ns[band])
			return true;
	}
	return false;
}

/* The highest band that has threads is the topmost, if the others have room below it. */
static void choose_bands(struct heat *heat, size_t lines)
{
	size_t low = 0, high = ACTIVITY_BANDS - 1;

	while (high && !has_band(heat, high))
		high--;
	while (low < high && !has_band(heat, low))
		low++;
	if (high - low >= lines)
		low = high - lines + 1;
	/* Room that is left is for longer times, then for shorter ones. */
	high = min_u64(ACTIVITY_BANDS - 1, low + lines - 1);
	heat->high = high;
	heat->low = high >= lines ? high - lines + 1 : 0;
}

static void find_most(struct heat *heat)
{
	heat->most = 0;
	for (size_t step = 0; step < heat->steps.nr; step++) {
		for (size_t band = heat->low; band <= heat->high; band++)
			heat->most = fmax(heat->most, average(heat, step, band));
	}
}

/* In proportion to the root: a single thread is seen beside hundreds. */
static void paint_cell(const struct heat *heat, struct canvas *canvas, size_t line, size_t column,
		       double threads)
{
	size_t shade;

	if (threads <= 0)
		return;
	shade = (size_t)(sqrt(threads / heat->most) * NR_SHADES);
	shade = min_u64(shade, NR_SHADES - 1);
	canvas__set(canvas, line, column, shades[shade].style,
		    canvas->utf8 ? shades[shade].block : shades[shade].letter);
}

static void paint_bands(const struct heat *heat, struct canvas *canvas, size_t line)
{
	for (size_t band = heat->high + 1; band-- > heat->low; line++) {
		canvas__put_right(canvas, line, 0, LABEL_COLUMNS - 1, STYLE_DIM,
				  band == heat->low ? labels[0] : labels[band]);
		canvas__set(canvas, line, LABEL_COLUMNS - 1, STYLE_DIM, canvas->utf8 ? "│" : "|");
		for (size_t step = 0; step < heat->steps.nr; step++)
			paint_cell(heat, canvas, line, LABEL_COLUMNS + step,
				   average(heat, step, band));
	}
}

int screen_heat__paint(const struct screen_state *state, struct canvas *canvas, size_t line,
		       size_t lines)
{
	size_t nr = min_u64(canvas->columns - LABEL_COLUMNS, SCREEN_GRAPH_MOST), at;
	struct heat *heat;
	char text[64];
	int err;

	if (lines < 2 || canvas->columns <= LABEL_COLUMNS || !state->latest)
		return 0;
	heat = calloc(1, sizeof(*heat));
	if (!heat)
		return -ENOMEM;
	heat->steps.steps = heat->step;
	err = screen_graph__steps(state, nr, &heat->steps);
	if (!err) {
		choose_bands(heat, lines - 1);
		find_most(heat);
		paint_bands(heat, canvas, line);
		at = screen_graph__put_span(&heat->steps, canvas, line + lines - 1);
		snprintf(text, sizeof(text), "time in %s; the darkest: %.2f threads",
			 activity_time__name(state->time), heat->most);
		canvas__put(canvas, line + lines - 1, at, SIZE_MAX, STYLE_DIM, text);
	}
	free(heat);
	return err;
}
