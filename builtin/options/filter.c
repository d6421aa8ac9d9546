/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that choose blocks, by state, length and the object waited for. */
#include "builtin/options/filter.h"

#include "builtin/options/values.h"

static void set_states(const struct option_value *value, void *field)
{
	if (capture_states__parse(field, value->text))
		option_value__error(value, "not a list of R, S, D, T, t, I, P, or all");
}

static void set_skip_idle(const struct option_value *value, void *field)
{
	struct skip_idle *skip_idle = field;

	skip_idle->on = true;
	skip_idle->file = value->text;
}

static const struct option_row rows[] = {
	{ "state", .arg = "LIST",
	  .text = "Off-CPU states, of R (preempted or yielded), S, D, T, t, I, P, or all "
		  "(default S,D)",
	  OPTION_FIELD(set_states, uint32_t, struct filter_options, states) },
	{ "min-block", .arg = "TIME", .text = "Drop shorter blocks",
	  OPTION_TIME(struct filter_options, capture.min_ns) },
	{ "max-block", .arg = "TIME", .text = "Drop longer blocks",
	  OPTION_TIME(struct filter_options, capture.max_ns) },
	{ "no-still-blocked", .text = "Drop threads that are still blocked when the recording ends",
	  OPTION_TRUE(struct filter_options, capture.no_still_blocked) },
	{ "skip-idle", .of_samples = true, .optional_arg = true, .arg = "FILE",
	  .text = "Drop waits for work, as in accept or on a terminal; FILE adds rules to "
		  "the table in the man page",
	  OPTION_FIELD(set_skip_idle, struct skip_idle, struct filter_options, skip_idle) },
};

static void check(const struct options *options, const void *values)
{
	const struct filter_options *filter = values;

	if (filter->capture.min_ns > filter->capture.max_ns)
		options__error(options, "--min-block is longer than --max-block: no block matches");
}

const struct option_table filter_table = {
	.title = "Which blocks count:",
	.group = 2,
	OPTION_ROWS(rows),
	.check = check,
};

int filter_options__resolve(struct filter_options *filter, struct capture_options *capture)
{
	int err = 0;

	if (filter->states)
		filter->capture.states = filter->states;
	else if (capture->split_runqueue)
		/* queued-time then holds preempted threads as well, which are most of it. */
		filter->capture.states |= capture__state_bit('R');
	if (filter->skip_idle.on) {
		err = idle_table__init(&filter->idle);
		if (!err && filter->skip_idle.file)
			err = idle_table__read(&filter->idle, filter->skip_idle.file);
		filter->capture.idle = &filter->idle;
	}
	capture->filter = filter->capture;
	return err;
}

void filter_options__free(struct filter_options *filter)
{
	idle_table__free(&filter->idle);
}
