/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-top: what every thread is doing now. The work is done in util/top/. */
#include "top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "builtin/options/common.h"
#include "builtin/options/table.h"
#include "builtin/options/target.h"
#include "builtin/options/values.h"
#include "builtin/terminal.h"
#include "screen/term_type.h"
#include "top/replay.h"
#include "top/replay_screen.h"

#define DEFAULT_TOP 20
#define MAX_TOP 1000000
#define DEFAULT_INTERVAL_NS (5 * NSEC_PER_SEC)
#define MAX_HOURS 240000
#define DEFAULT_OVERHEAD_PPM 30000
#define OVERHEAD_NOT_GIVEN UINT32_MAX
/* Looks are at once on the screen and in tables; each of them is kept elsewhere. */
#define DEFAULT_PERIOD_NS (100 * NSEC_PER_MSEC)
#define DEFAULT_KEPT_PERIOD_NS NSEC_PER_SEC

/* The values of its options. */
struct top_command {
	struct top_options top;
	struct target_options target;
	struct common_options common;
	char *calls, *comms; /* names, apart by commas */
	const char *input;   /* a recording, which is shown in place of the machine; or NULL */
};

static void set_times(const struct option_value *value, void *field)
{
	enum activity_time *time = field;

	for (int i = 0; i < ACTIVITY_TIMES; i++) {
		if (!strcmp(value->text, activity_time__name((enum activity_time)i))) {
			*time = (enum activity_time)i;
			return;
		}
	}
	option_value__error(value, "not state, call or request");
}

/* "20", "0.5" or "1/m": looks a second, or a minute. */
static void set_rate(const struct option_value *value, void *field)
{
	uint64_t *period = field;
	char *end;
	double rate = strtod(value->text, &end);

	if (!strcmp(end, "/m"))
		rate /= 60;
	else if (*end && strcmp(end, "/s") != 0)
		rate = 0;
	/* Not a number fails as well. */
	if (!(rate >= 1e9 / TOP_MAX_PERIOD_NS - 1e-9 && rate <= 1e9 / TOP_MIN_PERIOD_NS))
		option_value__error(value, "not a rate from 1/m to 1000, such as 20, 0.5 or 6/m");
	*period = (uint64_t)(1e9 / rate);
}

static void set_states(const struct option_value *value, void *field)
{
	if (top_states__parse(value->text, field))
		option_value__error(value, "not a list of RUN, RUNQ, SLEEP, DISK, IDLE, STOPPED, "
					   "TRACED, PARKED, ZOMBIE, DEAD, OTHER, or letters of "
					   "ps(1)");
}

static void set_columns(const struct option_value *value, void *field)
{
	struct batch_options *batch = field;
	int err = top_columns__parse(value->text, batch->columns, BATCH_COLUMNS,
				     &batch->nr_columns);

	if (err == -E2BIG)
		option_value__error(value, "more than %d columns", BATCH_COLUMNS);
	else if (err)
		option_value__error(value, "not a list of different columns, such as "
					   "state,comm,wait; the man page names them all");
}

/* A size, as 500M, or a time in hours or days, as 12h or 7d. */
static void set_retain(const struct option_value *value, void *field)
{
	struct csv_archive_options *archive = field;
	char *end;
	unsigned long hours = strtoul(value->text, &end, 10);

	if (!strcmp(end, "d"))
		hours *= 24;
	if (strcmp(end, "h") != 0 && strcmp(end, "d") != 0)
		option_set__size(value, &archive->max_bytes);
	else if (!hours || hours > MAX_HOURS)
		option_value__error(value, "must be from 1h to 10000d");
	else
		archive->max_ns = hours * 3600 * NSEC_PER_SEC;
}

/* A list of what is to be tracked. */
static void set_track(const struct option_value *value, void *field)
{
	static const char *const names[] = { "syscalls", "offcpu", "block" };
	uint32_t *what = field, found;
	const char *at = value->text;
	size_t len;

	do {
		len = strcspn(at, ",");
		found = 0;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (len == strlen(names[i]) && !strncmp(at, names[i], len))
				found = 1U << i;
		}
		if (!found)
			option_value__error(value, "not a list of syscalls, offcpu, block");
		*what |= found;
		at += len;
	} while (*at++);
}

/* Of the modes of other commands, those that there are here. */
static void set_call_graph(const struct option_value *value, void *field)
{
	bool *frame_pointers = field;

	*frame_pointers = !strcmp(value->text, "fp");
	if (!*frame_pointers && strcmp(value->text, "auto") != 0)
		option_value__error(value, "must be auto or fp");
}

static void set_count(const struct option_value *value, void *field)
{
	*(uint64_t *)field = option_value__number(value, UINT32_MAX);
}

static void set_top(const struct option_value *value, void *field)
{
	*(size_t *)field = option_value__number(value, MAX_TOP);
}

#define COMMAND(fn, type, field) OPTION_FIELD(fn, type, struct top_command, field)

static const struct option_row thread_rows[] = {
	{ "all-states", .text = "Also threads that are idle by the rules in the man page",
	  OPTION_TRUE(struct top_command, top.sampler.all_states) },
	{ "state", .arg = "LIST",
	  .text = "Only threads in these states (RUN, RUNQ, SLEEP, DISK, ...), idle ones too",
	  COMMAND(set_states, uint32_t, top.sampler.states) },
	{ "syscall", .arg = "NAME,...",
	  .text = "Only threads off the CPU in these system calls, idle ones too",
	  OPTION_NAMES(struct top_command, calls) },
	{ "comm", .arg = "NAME,...", .text = "Only threads of these names",
	  OPTION_NAMES(struct top_command, comms) },
	{ "kernel-stacks", 'k', .text = "Kernel stacks of threads that are off the CPU as well",
	  OPTION_TRUE(struct top_command, top.sampler.kernel_stacks) },
	{ "user-stacks", 's',
	  .text = "User stacks of threads that are off the CPU",
	  OPTION_TRUE(struct top_command, top.sampler.user_stacks) },
	{ "call-graph", .arg = "MODE",
	  .text = "How to walk user stacks: auto (the default: unwind tables, and frame pointers "
		  "where there are none) or fp (frame pointers)",
	  COMMAND(set_call_graph, bool, top.sampler.frame_pointers) },
	{ "stack-every", .arg = "N", .text = "With -k and -s: take stacks at each Nth look only",
	  COMMAND(set_count, uint64_t, top.stack_every) },
	{ "idle", .arg = "FILE", .text = "Rules that tell more idle threads, or fewer",
	  OPTION_TEXT(struct top_command, top.sampler.idle) },
	{ "track", .arg = "LIST",
	  .text = "Also follow all syscalls, offcpu and block requests: exact times, wakers",
	  COMMAND(set_track, uint32_t, top.sampler.track.what) },
	{ "pin", .arg = "DIR",
	  .text = "With --track: share it with other denet-top, pinned in DIR of a BPF file system",
	  OPTION_TEXT(struct top_command, top.sampler.track.pin) },
	{ "frequency", 'F', .arg = "HZ",
	  .text = "Looks a second, from 1/m to 1000 (default 10; 1 with --json, -o and -w alone)",
	  COMMAND(set_rate, uint64_t, top.period_ns) },
	{ "max-overhead", .arg = "PCT",
	  .text = "Look less often above this cost in percent of a CPU (default 3; 0: never)",
	  OPTION_PERCENT(struct top_command, top.max_overhead_ppm) },
};

static const struct option_row output_rows[] = {
	{ "batch", 'b', .text = "Print tables as plain text",
	  OPTION_TRUE(struct top_command, top.outputs.tables) },
	{ "screen",
	  .text = "Show a screen: the default on a terminal without others of these but -g and -i",
	  OPTION_TRUE(struct top_command, top.outputs.screen) },
	{ "group", 'g', .arg = "COLUMN,...",
	  .text = "Columns to group by (default state,comm,wait)",
	  COMMAND(set_columns, struct batch_options, top.outputs.batch) },
	{ "times", .arg = "KIND",
	  .text = "What P50 and P99 are of: times in state (default), in call, of a request",
	  COMMAND(set_times, enum activity_time, top.outputs.batch.time) },
	{ "interval-print", 'I', .arg = "MS",
	  .text = "A table each MS (default 5000, with -i one of all)",
	  OPTION_INTERVAL(struct top_command, top.interval_ns) },
	{ "count", 'n', .arg = "COUNT",
	  .text = "End after COUNT tables, or looks where there are none",
	  COMMAND(set_count, uint64_t, top.count) },
	{ "top", .arg = "N", .text = "Print N rows of each table (default 20)",
	  COMMAND(set_top, size_t, top.outputs.batch.top) },
	{ "json", .text = "Print a line of JSON for each thread and look",
	  OPTION_TRUE(struct top_command, top.outputs.json) },
	{ "output", 'o', .arg = "DIR", .text = "Write files of CSV into DIR, as xcapture does",
	  OPTION_TEXT(struct top_command, top.outputs.csv.path) },
	{ "compress", 'z', .text = "With -o: compress the files of hours that are over",
	  OPTION_TRUE(struct top_command, top.outputs.csv.archive.compress) },
	{ "retain", .arg = "SIZE|TIME",
	  .text = "With -o: delete files when they are larger in all, or older (500M, 12h, 7d)",
	  COMMAND(set_retain, struct csv_archive_options, top.outputs.csv.archive) },
	{ "min-time", .arg = "TIME",
	  .text = "With --track and -o: also write calls and requests that no look met, if so long",
	  OPTION_TIME(struct top_command, top.sampler.track.min_ns) },
	{ "write", 'w', .arg = "FILE",
	  .text = "Write a perf.data file of an event thread-state, with the stacks of -k and -s",
	  OPTION_TEXT(struct top_command, top.outputs.perf.path) },
	{ "input", 'i', .arg = "FILE|DIR",
	  .text = "Show what was recorded by -o or -w, or by xcapture",
	  OPTION_TEXT(struct top_command, input) },
};

static void check_track(const struct options *options, const struct top_command *command)
{
	const struct track_options *track = &command->top.sampler.track;

	if (track->pin && !track->what)
		options__error(options, "--pin needs --track, which it shares");
	if (track->min_ns != TRACK_WIRE_NEVER && !(track->what && command->top.outputs.csv.path))
		options__error(options, "--min-time needs --track and -o, where they are written");
}

/* A recording is shown whole: what chooses threads would be for nothing. */
static void check_input(const struct options *options, const struct top_command *command)
{
	const struct target_options *target = &command->target;
	const struct outputs_options *outputs = &command->top.outputs;
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{ target->pids.nr, "-p" },
		{ target->tids.nr, "-t" },
		{ target->users, "-u" },
		{ target->groups, "-G" },
		{ target->cpus.any, "-C" },
		{ target->capture.all, "-a" },
		{ target->command, "COMMAND" },
		{ target->capture.kernel_threads, "--kernel-threads" },
		{ target->delay_ns, "-D" },
		{ command->top.sampler.states, "--state" },
		{ command->calls, "--syscall" },
		{ command->comms, "--comm" },
		{ command->top.sampler.all_states, "--all-states" },
		{ command->top.sampler.idle, "--idle" },
		{ command->top.sampler.kernel_stacks, "-k" },
		{ command->top.sampler.user_stacks, "-s" },
		{ command->top.period_ns, "-F" },
		{ command->top.max_overhead_ppm != OVERHEAD_NOT_GIVEN, "--max-overhead" },
		{ command->top.sampler.frame_pointers, "--call-graph" },
		{ command->top.stack_every, "--stack-every" },
		{ command->top.sampler.track.what, "--track" },
		{ outputs->json, "--json" },
		{ outputs->csv.path, "-o" },
		{ outputs->perf.path, "-w" },
	};

	for (size_t i = 0; command->input && i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].given)
			options__error(options,
				       "-i shows what was recorded; %s does not go with it",
				       all[i].name);
	}
	if (command->input && command->top.count && outputs->screen)
		options__error(options, "-n counts tables or looks: a screen of -i has neither");
}

static void check_output(const struct options *options, const void *values)
{
	const struct top_command *command = values;

	const struct outputs_options *outputs = &command->top.outputs;

	if (outputs->tables && outputs->json)
		options__exclude(options, "batch", "json");
	if (outputs->tables && outputs->screen)
		options__exclude(options, "batch", "screen");
	if (outputs->json && outputs->screen)
		options__exclude(options, "json", "screen");
	if (command->top.interval_ns && outputs->screen)
		options__exclude(options, "interval-print", "screen");
	if (outputs->batch.top && outputs->screen)
		options__exclude(options, "top", "screen");
	if (!outputs->csv.path && outputs->csv.archive.compress)
		options__error(options, "-z needs -o, whose files it compresses");
	if (!outputs->csv.path &&
	    (outputs->csv.archive.max_bytes || outputs->csv.archive.max_ns))
		options__error(options, "--retain needs -o, whose files it deletes");
	check_track(options, command);
	check_input(options, command);
}

static const struct option_table thread_table = {
	.title = "Which of these are shown, and how often they are looked at:",
	.group = 2,
	OPTION_ROWS(thread_rows),
};
static const struct option_table output_table = {
	.title = "Output:",
	.group = 4,
	OPTION_ROWS(output_rows),
	.check = check_output,
};

static int parse(int argc, char **argv, struct top_command *command)
{
	static const struct option_letter letters[] = { { "no-inherit", 0 }, { NULL, 0 } };
	const struct option_use uses[] = {
		{ &target_table, &command->target },
		{ &target_detail_table, &command->target },
		{ &thread_table, command },
		{ &output_table, command },
		{ &common_table, &command->common },
		{ &help_table, NULL },
	};
	const struct option_command options = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.letters = letters,
		.arguments = "[-- COMMAND [ARG...]]",
		.doc = "Show what every thread is doing now: its state, its system call, and the "
		       "file, socket or lock that the call is about.\v"
		       "`man denet-top` has the details. Examples:\n"
		       "  denet-top -b -n 1\n"
		       "  denet-top -b -g comm,syscall,filename -p 4711",
	};

	return options__parse(&options, argc, argv);
}

static bool is_kernel_stack(enum top_column column)
{
	return column == TOP_COLUMN_KSTACK || column == TOP_COLUMN_KSTACK_HASH ||
	       column == TOP_COLUMN_KFUNC;
}

static bool is_user_stack(enum top_column column)
{
	return column == TOP_COLUMN_USTACK || column == TOP_COLUMN_USTACK_HASH ||
	       column == TOP_COLUMN_UFUNC;
}

/* Columns take what they show. */
static void want_columns(struct sampler_options *sampler, struct outputs_options *outputs)
{
	const struct batch_options *batch = &outputs->batch;

	for (size_t i = 0; i < batch->nr_columns; i++) {
		const enum top_column column = batch->columns[i];

		sampler->kernel_stacks |= is_kernel_stack(column);
		sampler->user_stacks |= is_user_stack(column);
		outputs->by_stack |= is_kernel_stack(column) || is_user_stack(column);
		sampler->cmdlines |= column == TOP_COLUMN_CMDLINE;
		sampler->aio |= column == TOP_COLUMN_AIOFILENAME || column == TOP_COLUMN_EXTRA_INFO;
		sampler->lock_owners |= column == TOP_COLUMN_LOCK_OWNER;
	}
}

/*
 * The screen is for those who did not ask for anything else: neither for another output, nor for
 * what tables alone have, nor for a COMMAND, which may want the terminal for itself.
 */
static bool is_for_screen(const struct top_command *command)
{
	const struct top_options *top = &command->top;
	const struct outputs_options *outputs = &top->outputs;

	if (outputs->tables || outputs->json || outputs->csv.path || outputs->perf.path)
		return false;
	return !top->count && !top->interval_ns && !outputs->batch.top &&
	       !command->target.command && term_type__is_usable();
}

_Static_assert(SCREEN_COLUMNS == BATCH_COLUMNS, "-g is for both");

static void complete_screen(struct top_command *command)
{
	struct top_options *top = &command->top;
	struct screen_options *on_screen = &top->outputs.on_screen;
	const struct batch_options *batch = &top->outputs.batch;

	top->outputs.screen |= is_for_screen(command);
	if (!top->outputs.batch.top)
		top->outputs.batch.top = DEFAULT_TOP;
	if (!top->outputs.screen)
		return;
	on_screen->nr_columns = batch->nr_columns;
	memcpy(on_screen->columns, batch->columns, sizeof(on_screen->columns));
	on_screen->time = batch->time;
	on_screen->colours = batch->form.colours;
	/* They are a part of the way down. */
	top->sampler.kernel_stacks = top->sampler.user_stacks = true;
}

/* Tables are what is left where nothing else is wanted. */
static void complete_outputs(struct top_options *top)
{
	struct outputs_options *outputs = &top->outputs;
	bool keeps = outputs->json || outputs->csv.path || outputs->perf.path;

	if (!top->period_ns)
		top->period_ns = keeps && !outputs->screen ? DEFAULT_KEPT_PERIOD_NS
							   : DEFAULT_PERIOD_NS;
	if (top->max_overhead_ppm == OVERHEAD_NOT_GIVEN)
		top->max_overhead_ppm = DEFAULT_OVERHEAD_PPM;
	if (!top->stack_every)
		top->stack_every = 1;
	if (!top->interval_ns)
		top->interval_ns = DEFAULT_INTERVAL_NS;
	outputs->tables |= !keeps && !outputs->screen;
	want_columns(&top->sampler, outputs);
	top->sampler.cmdlines |= outputs->json || outputs->screen;
	top->sampler.aio |= outputs->json || outputs->csv.path || outputs->screen;
	top->sampler.lock_owners |= outputs->json || outputs->csv.path || outputs->screen;
	outputs->csv.kernel_stacks = top->sampler.kernel_stacks;
	outputs->csv.user_stacks = top->sampler.user_stacks;
	top->sampler.track.records = top->sampler.track.what && outputs->csv.path;
}

/* Resolves names and completes the options. 0 or a negative errno (logged). */
static int resolve(struct top_command *command)
{
	struct top_options *top = &command->top;
	int err = target_options__resolve(&command->target, &top->session);

	if (err)
		return err;
	top->session.noun = "sampling";
	top->session.done = "sampled";
	top->session.stdout_to_stderr = true;
	top->session.patience = 1;
	top->sampler.targets = top->session.capture.targets;
	/* They do the work of others. */
	if (top->sampler.targets.all)
		top->sampler.targets.kernel_threads = true;
	top->sampler.calls = command->calls;
	top->sampler.comms = command->comms;
	if (top->outputs.screen && top->session.command) {
		pr_err("--screen does not go with COMMAND, which would write on it");
		return -EINVAL;
	}
	complete_outputs(top);
	return 0;
}

static void complete_batch(struct batch_options *batch)
{
	if (!batch->nr_columns)
		top_columns__parse("state,comm,wait", batch->columns, BATCH_COLUMNS,
				   &batch->nr_columns);
	batch->form.colours = terminal__wants_colours();
	batch->form.width = terminal__width();
}

static int replay(struct top_command *command, int *status)
{
	const struct replay_options options = {
		.path = command->input,
		.batch = &command->top.outputs.batch,
		.interval_ns = command->top.interval_ns,
		.count = command->top.count,
		.out = stdout,
	};

	*status = EXIT_STATUS_OK;
	command->top.outputs.on_screen.source = command->input;
	if (command->top.outputs.screen)
		return replay_screen__run(&command->top.outputs.on_screen);
	return replay__run(&options);
}

int cmd_top(int argc, char **argv)
{
	struct top_command command = {
		.top.max_overhead_ppm = OVERHEAD_NOT_GIVEN,
		.top.sampler.track.min_ns = TRACK_WIRE_NEVER,
		.top.outputs.perf = { .argc = argc, .argv = (const char *const *)argv },
	};
	int status = EXIT_STATUS_ERROR, err;

	log__init("denet-top", LOG_INFO);
	err = parse(argc, argv, &command);
	log__init("denet-top", common_options__log_level(&command.common));
	complete_batch(&command.top.outputs.batch);
	complete_screen(&command);
	if (!err && command.input) {
		err = replay(&command, &status);
	} else if (!err) {
		err = resolve(&command);
		if (!err)
			err = top__run(&command.top, &status);
	}
	target_options__free(&command.target);
	free(command.calls);
	free(command.comms);
	return err ? EXIT_STATUS_ERROR : status;
}
