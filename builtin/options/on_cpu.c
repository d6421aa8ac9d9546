/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for time on the CPU, and for events beside it. */
#include "builtin/options/on_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "builtin/options/values.h"

#define ON_CPU_FREQ 99
#define ON_CPU_MAX_FREQ 100000

static void set_wall(const struct option_value *value, void *field)
{
	struct on_cpu_options *options = field;

	options->wall = true;
	if (value->text)
		options->wall_freq = option_value__number(value, ON_CPU_MAX_FREQ);
}

static void set_freq(const struct option_value *value, void *field)
{
	*(uint64_t *)field = option_value__number(value, ON_CPU_MAX_FREQ);
}

static void set_count(const struct option_value *value, void *field)
{
	*(uint64_t *)field = option_value__number(value, INT64_MAX);
}

/* The time on the CPU is that of one event. */
static void set_clock(const struct option_value *one, enum capture_clock clock,
		      struct on_cpu_options *options)
{
	if (options->clock && options->clock != clock)
		option_value__error(one, "on-CPU samples are taken by one event: cpu-clock or "
					 "cycles");
	options->clock = clock;
}

static bool has_modifier(const char *event)
{
	return !strncmp(event, "cycles:", 7) || !strncmp(event, "cpu-clock:", 10);
}

/* One name of the list, which ends at a comma or at the end of the text. */
static void add_event(const struct option_value *value, const char *name, size_t len,
		      struct on_cpu_options *options)
{
	char *copy = strndup(name, len);
	const struct option_value one = { value->state, value->name, copy };

	if (!copy)
		option_value__error(value, "out of memory");
	if (!strcmp(copy, "cpu-clock"))
		set_clock(&one, CAPTURE_CLOCK_CPU, options);
	else if (!strcmp(copy, "cycles"))
		set_clock(&one, CAPTURE_CLOCK_CYCLES, options);
	else if (has_modifier(copy))
		option_value__error(&one, "events have no modifiers here: user and kernel time are "
					  "both recorded");
	else if (strchr(copy, ':') && *copy != ':' && copy[len - 1] != ':')
		option_set__names(&one, &options->tracepoints);
	else
		option_value__error(&one, "no such event: cpu-clock, cycles, or a tracepoint "
					  "SUBSYS:NAME, such as sched:sched_switch");
	free(copy);
}

static void set_events(const struct option_value *value, void *field)
{
	size_t len;

	for (const char *name = value->text;; name += len + 1) {
		len = strcspn(name, ",");
		add_event(value, name, len, field);
		if (!name[len])
			return;
	}
}

#define ON_CPU(fn, type, field) OPTION_FIELD(fn, type, struct on_cpu_options, field)

static const struct option_row rows[] = {
	{ "wall", .of_samples = true, .arg = "HZ", .optional_arg = true,
	  .text = "Record all time of a thread: running (event on-cpu-time, sampled at HZ, "
		  "default 99), runnable and blocked",
	  .set = set_wall },
	{ "freq", 'F', .of_samples = true, .arg = "HZ",
	  .text = "Record on-CPU samples as well, at HZ on each CPU",
	  ON_CPU(set_freq, uint64_t, freq) },
	{ "count", 'c', .of_samples = true, .arg = "N",
	  .text = "The same, one sample for each N of the event (cpu-clock: ns)",
	  ON_CPU(set_count, uint64_t, count) },
	{ "event", 'e', .of_samples = true, .arg = "EVENT",
	  .text = "What on-CPU samples are taken by, cpu-clock or cycles, and tracepoints "
		  "SUBSYS:NAME to record as well; a list with commas",
	  .set = set_events },
};

static void check(const struct options *options, const void *values)
{
	const struct on_cpu_options *on_cpu = values;

	if (on_cpu->freq && on_cpu->count)
		options__exclude(options, "freq", "count");
	if (on_cpu->wall_freq && (on_cpu->freq || on_cpu->count))
		options__error(options, "--wall=HZ and %s exclude each other",
			       on_cpu->freq ? "-F" : "-c");
}

const struct option_table on_cpu_table = {
	.title = "Time on the CPU and other events:",
	.group = 2,
	OPTION_ROWS(rows),
	.check = check,
};

/* As in perf, -F and -c apply to the events of -e if there are any. */
static bool has_clock(const struct on_cpu_options *options)
{
	return options->wall || options->clock ||
	       ((options->freq || options->count) && !options->tracepoints);
}

void on_cpu_options__resolve(const struct on_cpu_options *options,
			     struct capture_options *capture)
{
	struct capture_on_cpu *on_cpu = &capture->on_cpu;

	if (!has_clock(options))
		return;
	on_cpu->clock = options->clock ? options->clock : CAPTURE_CLOCK_CPU;
	on_cpu->count = options->count;
	on_cpu->freq = options->freq ? options->freq : options->wall_freq;
	if (!on_cpu->freq && !on_cpu->count)
		on_cpu->freq = ON_CPU_FREQ;
	if (options->wall)
		capture->split_runqueue = true;
}

void on_cpu_options__free(struct on_cpu_options *options)
{
	free(options->tracepoints);
	options->tracepoints = NULL;
}
