/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/json_samples.h"

#include <errno.h>
#include <inttypes.h>

#include "base/json_text.h"
#include "base/units.h"
#include "top/wall_time.h"

static bool is_left_out(enum top_column column, const struct thread_sample *sample,
			const char *text)
{
	bool is_arg = column >= TOP_COLUMN_ARG1 && column <= TOP_COLUMN_ARG6;

	/* Of the call's time there is the number. */
	return !*text || (is_arg && sample->nr < 0) || column == TOP_COLUMN_SYSC_TIME;
}

static void print_time(FILE *out, const char *key, uint64_t ns)
{
	char time[WALL_TIME_LEN];

	fprintf(out, ",\"%s\":\"%s\"", key, wall_time__put(ns, time));
}

static void print_times(const struct top_pass *pass, const struct thread_sample *sample, FILE *out)
{
	const struct thread_track *track = &sample->track;
	uint64_t lead = pass->wall_ns - pass->time;

	if (sample->state_ns)
		fprintf(out, ",\"state_us\":%" PRIu64, sample->state_ns / (uint64_t)NSEC_PER_USEC);
	if (track->since)
		print_time(out, "state_since", track->since + lead);
	if (!track->entered)
		return;
	fprintf(out, ",\"sysc_us_so_far\":%" PRIu64,
		sample->time > track->entered
			? (sample->time - track->entered) / (uint64_t)NSEC_PER_USEC
			: 0);
	print_time(out, "sysc_entry_time", track->entered + lead);
}

int json_samples__print(const struct top_pass *pass, const struct thread_sample *sample,
			struct top_names *names, FILE *out)
{
	char text[TOP_COLUMN_LEN], time[WALL_TIME_LEN];

	fprintf(out, "{\"timestamp\":\"%s\",\"weight_us\":%" PRIu64,
		wall_time__put(pass->wall_ns, time), pass->weight_ns / (uint64_t)NSEC_PER_USEC);
	fprintf(out, ",\"off_us\":%" PRIu64,
		sample->time > pass->time ? (sample->time - pass->time) / (uint64_t)NSEC_PER_USEC
					  : 0);
	print_times(pass, sample, out);
	for (int i = 0; i < TOP_COLUMNS; i++) {
		enum top_column column = (enum top_column)i;

		top_column__put(column, sample, names, text);
		if (is_left_out(column, sample, text))
			continue;
		fprintf(out, ",\"%s\":", top_column__name(column));
		if (top_column__is_number(column) || top_column__is_json(column))
			fputs(text, out);
		else
			json_text__print(text, out);
	}
	return fputs("}\n", out) < 0 ? -errno : 0;
}
