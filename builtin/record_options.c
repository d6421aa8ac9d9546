/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of denet-record alone; the shared ones, and groups of its own, are in options/. */
#include "record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "builtin/options/stack.h"
#include "builtin/options/values.h"

#define RECORD_MIN_WINDOW (10 * NSEC_PER_MSEC)
#define RECORD_MAX_WINDOW (3600 * NSEC_PER_SEC)
#define RECORD_MAX_FILES 100000
#define RECORD_MAX_RATE 100000000

static void set_period(const struct option_value *value, void *field)
{
	uint64_t *ns = field;

	option_set__time(value, ns);
	if (*ns < NSEC_PER_USEC || *ns > CAPTURE_MAX_PERIOD_NS)
		option_value__error(value, "must be from 1us to 4s");
}

static void set_window(const struct option_value *value, void *field)
{
	uint64_t *ns = field;

	option_set__time(value, ns);
	if (*ns < RECORD_MIN_WINDOW || *ns > RECORD_MAX_WINDOW)
		option_value__error(value, "must be from 10ms to 3600s");
}

static void set_rate(const struct option_value *value, void *field)
{
	*(uint32_t *)field = (uint32_t)option_value__number(value, RECORD_MAX_RATE);
}

static void set_output(const struct option_value *value, void *field)
{
	if (!*value->text)
		option_value__error(value, "the name of the file is empty");
	*(const char **)field = value->text;
}

static void set_rotation(const struct option_value *value, void *field)
{
	if (rotation__parse(field, value->text ? value->text : "signal"))
		option_value__error(value, "not a size such as 100M, nor a time such as 30s, 10m, "
					   "1h or 1d");
}

static void set_max_files(const struct option_value *value, void *field)
{
	*(uint64_t *)field = option_value__number(value, RECORD_MAX_FILES);
}

#define RECORDER(fn, type, field) OPTION_FIELD(fn, type, struct recorder_options, field)

_Static_assert(CAPTURE_DEFAULT_THRESHOLD_NS == 500 * NSEC_PER_MSEC, "the help of the first row");

static const struct option_row block_rows[] = {
	/* Its default is CAPTURE_DEFAULT_THRESHOLD_NS, in util/capture/options.h. */
	{ "off-cpu-thresh", .of_samples = true, .arg = "TIME",
	  .text = "Blocks of at least TIME are samples of their own; shorter ones are "
		  "summed (default 500ms; without a unit ms; 0: each block is a sample)",
	  OPTION_TIME(struct recorder_options, session.capture.threshold_ns) },
	{ "off-cpu-period", .of_samples = true, .arg = "TIME",
	  .text = "Sample blocks below the threshold: on average one sample per TIME off "
		  "the CPU (default: every block counts)",
	  RECORDER(set_period, uint64_t, session.capture.period_ns) },
	{ "off-cpu-max-rate", .of_samples = true, .arg = "HZ",
	  .text = "Sample at about HZ samples per second, whatever the load",
	  RECORDER(set_rate, uint32_t, max_rate) },
	{ "window", .of_samples = true, .arg = "TIME",
	  .text = "Interval in which sums of short blocks are written (default 1s)",
	  RECORDER(set_window, uint64_t, window_ns) },
	{ "split-runqueue", .of_samples = true,
	  .text = "Split blocks at their wake-up; the wait for a CPU after it goes to an "
		  "event queued-time",
	  OPTION_TRUE(struct recorder_options, session.capture.split_runqueue) },
	{ "wakers", .of_samples = true,
	  .text = "Record wakers, with the blocked time that they end, as an event "
		  "wakeup-time",
	  OPTION_TRUE(struct recorder_options, session.capture.wakers) },
	{ "off-cpu", .text = "Accepted for compatibility; always on", OPTION_NOTHING },
};

static const struct option_row stack_rows[] = {
	{ "raw-stacks", .of_samples = true,
	  .text = "With --call-graph dwarf: write stack copies to the file; perf unwinds",
	  OPTION_TRUE(struct recorder_options, raw_stacks) },
};

static const struct option_row output_rows[] = {
	{ "output", 'o', .of_samples = true, .arg = "FILE",
	  .text = "Write FILE (default perf.data; an existing one is renamed to FILE.old; "
		  "-: stdout)",
	  RECORDER(set_output, const char *, output) },
	{ "one-event", .of_samples = true,
	  .text = "Write all time as one event wall-time, with its kind, such as [blocked], as "
		  "the outermost frame",
	  OPTION_TRUE(struct recorder_options, one_event) },
	{ "all-cgroups", .of_samples = true,
	  .text = "Record the cgroup of each sample, for perf report --no-children --sort cgroup",
	  OPTION_TRUE(struct recorder_options, session.capture.cgroups) },
	{ "reason", .of_samples = true,
	  .text = "Record the reason of each wait (system call, file, socket) as an event "
		  "denet:waits",
	  OPTION_TRUE(struct recorder_options, session.capture.reasons) },
	{ "no-buildid", 'B', .of_samples = true, .text = "Do not read the build-ids of files",
	  OPTION_TRUE(struct recorder_options, no_build_ids) },
	{ "buildid-cache", .of_samples = true,
	  .text = "Copy the files in callchains to ~/.debug, for perf archive",
	  OPTION_TRUE(struct recorder_options, fill_cache) },
	{ "no-buildid-cache", 'N', .text = "Do not copy files to ~/.debug (the default)",
	  OPTION_FALSE(struct recorder_options, fill_cache) },
	{ "max-size", .of_samples = true, .arg = "SIZE",
	  .text = "End the recording once the file has SIZE (with B, K, M, G)",
	  OPTION_SIZE(struct recorder_options, max_size) },
	{ "switch-output", .of_samples = true, .arg = "SIZE|TIME", .optional_arg = true,
	  .text = "Switch to a new file after SIZE (B, K, M, G), TIME (s, m, h, d), or at "
		  "SIGUSR2",
	  RECORDER(set_rotation, struct rotation_options, rotation) },
	{ "switch-max-files", .of_samples = true, .arg = "N",
	  .text = "Keep only the latest N files of --switch-output",
	  RECORDER(set_max_files, uint64_t, rotation.max_files) },
	{ "max-overhead", .of_samples = true, .arg = "PCT",
	  .text = "Switch to sampling above this cost in percent of a CPU (default 3; 0: "
		  "never)",
	  OPTION_PERCENT(struct recorder_options, max_overhead_ppm) },
};

static const struct option_row page_rows[] = {
	{ "flamegraph", .of_samples = true, .arg = "PAGE",
	  .text = "When the recording has ended, write a flame graph of it, a page for browsers",
	  OPTION_TEXT(struct record, flamegraph) },
};

static const struct option_row hist_rows[] = {
	{ "off-cpu-hist",
	  .text = "Print a histogram of blocks and the cost of each --off-cpu-thresh; write "
		  "no file",
	  OPTION_TRUE(struct record, hist) },
	{ "json", .text = "Print the histogram of --off-cpu-hist as JSON",
	  OPTION_TRUE(struct record, json) },
};

static const struct option_table block_table = { .group = 2, OPTION_ROWS(block_rows) };
static const struct option_table raw_stack_table = { .group = 3, OPTION_ROWS(stack_rows) };

static const struct option_table output_table = {
	.title = "Output:",
	.group = 4,
	OPTION_ROWS(output_rows),
};

static const struct option_table page_table = { .group = 4, OPTION_ROWS(page_rows) };

static const struct option_table hist_table = {
	.title = "Instead of a recording:",
	.group = 5,
	OPTION_ROWS(hist_rows),
};

static void check_output(const struct options *options, const struct recorder_options *recorder)
{
	bool to_stdout = !strcmp(recorder->output, "-");

	if (recorder->no_build_ids && recorder->fill_cache)
		options__exclude(options, "no-buildid", "buildid-cache");
	if (recorder->rotation.max_files && !recorder->rotation.enabled)
		options__error(options, "--switch-max-files needs --switch-output");
	if (recorder->rotation.enabled && to_stdout)
		options__error(options, "--switch-output and -o - exclude each other");
	if (to_stdout && isatty(STDOUT_FILENO))
		options__error(options, "-o -: stdout is a terminal; pipe it into perf, as in "
					"`denet-record -o - ... | perf script -i -`");
}

/* The page is made by reading one file again, and without copies of stacks. */
static void check_page(const struct options *options, const struct record *record)
{
	const struct recorder_options *recorder = &record->recorder;

	if (!record->flamegraph)
		return;
	if (recorder->rotation.enabled)
		options__exclude(options, "flamegraph", "switch-output");
	if (recorder->raw_stacks)
		options__exclude(options, "flamegraph", "raw-stacks");
	if (!strcmp(recorder->output, "-"))
		options__error(options, "--flamegraph and -o - exclude each other");
	if (!*record->flamegraph || !strcmp(record->flamegraph, "-"))
		options__error(options, "--flamegraph needs the name of a file");
	if (!strcmp(record->flamegraph, recorder->output))
		options__error(options, "--flamegraph and -o name the same file");
}

/*
 * The kernel does not tell the user of a hit. A BPF program at the tracepoint could judge by it,
 * but it would take hits from other programs that record the same tracepoint.
 */
static void check_tracepoints(const struct options *options, const struct record *record)
{
	if (!record->on_cpu.tracepoints)
		return;
	if ((record->on_cpu.freq || record->on_cpu.count) && !record->on_cpu.clock &&
	    !record->on_cpu.wall)
		options__error(options, "-%c is for on-CPU samples: each hit of a tracepoint is "
					"recorded",
			       record->on_cpu.freq ? 'F' : 'c');
	if (record->target.users)
		options__error(options, "tracepoints (-e) and -u exclude each other");
	if (record->recorder.one_event)
		options__error(options, "tracepoints (-e) and --one-event exclude each other");
}

/* A file of one event has no place for other events. */
static void check_one_event(const struct options *options, const struct recorder_options *recorder)
{
	const struct capture_options *capture = &recorder->session.capture;

	if (!recorder->one_event)
		return;
	if (capture->wakers)
		options__exclude(options, "one-event", "wakers");
	if (capture->reasons)
		options__exclude(options, "one-event", "reason");
	if (recorder->raw_stacks)
		options__exclude(options, "one-event", "raw-stacks");
}

/* Options of different tables that need or exclude each other. */
static void check(const struct options *options, const void *ctx)
{
	const struct record *record = ctx;
	const struct capture_options *capture = &record->recorder.session.capture;
	const struct capture_copies *copies = &capture->stacks.copies;

	if (record->hist && options__of_samples(options))
		options__error(options,
			       "--off-cpu-hist makes no recording: it and --%s exclude each other",
			       options__of_samples(options));
	if (record->json && !record->hist)
		options__error(options, "--json needs --off-cpu-hist");
	if (capture->period_ns && !capture->threshold_ns)
		options__error(options, "--off-cpu-thresh 0 keeps every block: nothing is left for "
					"--off-cpu-period to sample");
	if (record->recorder.raw_stacks && (!copies->bytes || copies->chosen || copies->tables))
		options__error(options, "--raw-stacks needs --call-graph dwarf");
	if (record->recorder.raw_stacks && record->recorder.rotation.enabled)
		options__exclude(options, "raw-stacks", "switch-output");
	check_output(options, &record->recorder);
	check_one_event(options, &record->recorder);
	check_tracepoints(options, record);
	check_page(options, record);
}

int record__parse(struct record *record, int argc, char **argv)
{
	struct recorder_options *recorder = &record->recorder;
	const struct option_use uses[] = {
		{ &target_table, &record->target },
		{ &target_detail_table, &record->target },
		{ &filter_table, &record->filter },
		{ &block_table, recorder },
		{ &on_cpu_table, &record->on_cpu },
		{ &walk_table, &recorder->session.capture.stacks },
		{ &stack_table, &recorder->session.capture.stacks },
		{ &raw_stack_table, recorder },
		{ &output_table, recorder },
		{ &ring_table, &record->common },
		{ &page_table, record },
		{ &common_table, &record->common },
		{ &hist_table, record },
		{ &help_table, NULL },
	};
	const struct option_command command = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.arguments = "[-- COMMAND [ARG...]]",
		.doc = "Record where threads lose time off the CPU, with kernel and user "
		       "callchains, into a file that perf reads.\v"
		       "The exit status is COMMAND's, 1 after an error, 2 after a usage error.\n"
		       "`man denet-record` has the details. Examples:\n"
		       "  denet-record -- ./app\n"
		       "  denet-record -p $(pgrep -d, nginx) --children -- sleep 10\n"
		       "  denet-record -a --off-cpu-max-rate 999 -o day.data\n"
		       "  denet-record --off-cpu-thresh 0 --reason -- ./app",
		.check = check,
		.ctx = record,
	};

	return options__parse(&command, argc, argv);
}
