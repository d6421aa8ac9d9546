/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-report: a recorded file in, text out. The work is done in util/report/. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "builtin/terminal.h"
#include "builtin/options/common.h"
#include "builtin/options/output_files.h"
#include "builtin/options/symbol.h"
#include "builtin/options/values.h"

struct report_command {
	struct report_options report;
	struct common_options common;
};

/* --by replaces a key, which --sort names itself. */
static void refuse_both(const struct option_value *value, const struct report_options *report)
{
	if (report->sorted && report->told_apart)
		option_value__error(value, "--by and --sort do not go together: name the key in "
					   "--sort");
}

static void set_sort(const struct option_value *value, void *field)
{
	struct report_options *report = field;
	int nr = row_keys__parse(value->text, report->keys);

	if (nr < 0)
		option_value__error(value, "not a list of group, comm, pid, tid, state, event, "
					   "wait, sym, callers");
	report->nr_keys = (size_t)nr;
	report->sorted = true;
	refuse_both(value, report);
}

/* Sets the first key, by which threads are told apart. */
static void set_by(const struct option_value *value, void *field)
{
	struct report_options *report = field;
	enum row_key keys[ROW_KEYS];

	if (row_keys__parse(value->text, keys) != 1 || keys[0] > ROW_TID)
		option_value__error(value, "not group, comm, pid or tid");
	report->keys[0] = keys[0];
	report->told_apart = true;
	refuse_both(value, report);
}

static void set_seconds(const struct option_value *value, const char *text, uint64_t *ns)
{
	if (*text && units__parse_time(text, NSEC_PER_SEC, ns))
		option_value__error(value, "not START,STOP in seconds, as perf script prints them");
}

static void set_time(const struct option_value *value, void *field)
{
	struct profile_filter *filter = field;
	const char *comma = strchr(value->text, ',');
	char from[64] = "";

	if (!comma || (size_t)(comma - value->text) >= sizeof(from))
		option_value__error(value, "not START,STOP in seconds, as perf script prints them");
	memcpy(from, value->text, (size_t)(comma - value->text));
	set_seconds(value, from, &filter->from);
	set_seconds(value, comma + 1, &filter->to);
	if (filter->to && filter->to <= filter->from)
		option_value__error(value, "STOP is not behind START");
}

static void set_events(const struct option_value *value, void *field)
{
	unsigned int *events = field;
	const char *at = value->text;

	for (;;) {
		size_t len = strcspn(at, ",");
		int i = 0;

		while (i < PROFILE_EVENTS &&
		       (strncmp(profile_event__name((enum profile_event)i), at, len) ||
			profile_event__name((enum profile_event)i)[len]))
			i++;
		if (i == PROFILE_EVENTS)
			option_value__error(value, "not a list of offcpu-time, offcpu-idle, "
						   "queued-time, wakeup-time, on-cpu-time");
		*events |= 1u << i;
		if (!at[len])
			return;
		at += len + 1;
	}
}

static void set_percent(const struct option_value *value, void *field)
{
	struct report_options *report = field;

	report->all_rows = true;
	option_set__percent(value, &report->min_ppm);
}

static void set_symfs(const struct option_value *value, void *field)
{
	struct stat dir;

	if (stat(value->text, &dir))
		option_value__error(value, "%s", strerror(errno));
	if (!S_ISDIR(dir.st_mode))
		option_value__error(value, "%s", strerror(ENOTDIR));
	*(const char **)field = value->text;
}

#define REPORT(fn, type, field) OPTION_FIELD(fn, type, struct report_options, field)

static const struct option_row input_rows[] = {
	{ "input", 'i', .arg = "FILE", .text = "Read FILE (default perf.data; -: standard input)",
	  OPTION_TEXT(struct report_options, input) },
	{ "symfs", .arg = "DIR", .text = "Look for the files of the recording below DIR first",
	  REPORT(set_symfs, const char *, symbols.symfs) },
};

static const struct option_row filter_rows[] = {
	{ "comm", .arg = "NAME,...", .text = "Threads of these names only",
	  OPTION_TEXT(struct report_options, filter.comms) },
	{ "tid", .arg = "TID,...", .text = "These threads only",
	  OPTION_IDS(struct report_options, filter.tids) },
	{ "time", .arg = "START,STOP",
	  .text = "Samples of this time only, in seconds as perf script prints them; either may "
		  "be left out",
	  REPORT(set_time, struct profile_filter, filter) },
	{ "event", .arg = "NAME,...", .text = "Samples of these events only",
	  REPORT(set_events, unsigned int, filter.events) },
	{ "idle", .text = "Show waits for work with the others",
	  OPTION_TRUE(struct report_options, idle) },
};

static const struct option_row table_rows[] = {
	{ "sort", .arg = "KEY,...",
	  .text = "Add up by group, comm, pid, tid, state, event, wait, sym, "
		  "callers (default group,wait,callers)",
	  .set = set_sort },
	{ "by", .arg = "KEY", .text = "Tell threads apart by group (default), comm, pid or tid",
	  .set = set_by },
	{ "wakers", .text = "Show which threads ended waits, in place of the waits",
	  OPTION_TRUE(struct report_options, wakers) },
	{ "locks", .text = "Show which locks were waited for, in place of the waits",
	  OPTION_TRUE(struct report_options, locks) },
	{ "min-percent", .arg = "PCT", .text = "Show all rows of at least this share",
	  .set = set_percent },
	{ "ns", .text = "Print nanoseconds",
	  OPTION_TRUE(struct report_options, form.exact) },
};

static const struct option_row output_rows[] = {
	{ "folded", .text = "Print folded stacks for flame graphs, with their ns",
	  OPTION_TRUE(struct report_options, folded) },
};

static const struct option_row log_rows[] = {
	{ "quiet", 'q', .text = "Print warnings and errors only",
	  OPTION_TRUE(struct common_options, quiet) },
	{ "verbose", 'v', .text = "Tell which files have no names, and why",
	  OPTION_COUNT(struct common_options, verbose) },
};

static void check_outputs(const struct options *options, const void *values)
{
	const struct report_options *report = values;

	if (report->folded && report->outputs.json)
		options__exclude(options, "folded", "json");
	output_files__check(options, &report->outputs, report->folded ? "folded" : "json",
			    report->folded || report->outputs.json ? "-" : NULL);
}

static const struct option_table input_table = {
	.title = "Input:", .group = 1, OPTION_ROWS(input_rows),
};
static const struct option_table filter_table = {
	.title = "Which time:", .group = 2, OPTION_ROWS(filter_rows),
};
static const struct option_table rows_table = {
	.title = "The table:", .group = 3, OPTION_ROWS(table_rows),
};
static const struct option_table output_table = {
	.title = "Other outputs:", .group = 4, OPTION_ROWS(output_rows), .check = check_outputs,
};
static const struct option_table log_table = {
	.group = 5, OPTION_ROWS(log_rows), .check = common_options__check,
};

static int parse(int argc, char **argv, struct report_command *command)
{
	const struct option_use uses[] = {
		{ &input_table, &command->report },  { &filter_table, &command->report },
		{ &symbol_table, &command->report.symbols },
		{ &rows_table, &command->report },   { &output_table, &command->report },
		{ &output_files_table, &command->report.outputs },
		{ &log_table, &command->common },    { &help_table, NULL },
	};
	const struct option_command options = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.doc = "Show where the time of a recording of denet-record went.\v"
		       "`man denet-report` tells more.",
	};

	return options__parse(&options, argc, argv);
}

/* An event that is asked for by name is shown, though by default it is not. */
static void show_events(struct report_options *report)
{
	report->idle |= report->filter.events >> PROFILE_IDLE & 1;
	report->wakers |= report->filter.events == 1u << PROFILE_WAKEUP;
}

int cmd_report(int argc, char **argv)
{
	struct report_command command = {
		.report = { .input = "perf.data", .nr_keys = 3,
			    .keys = { ROW_GROUP, ROW_WAIT, ROW_CALLERS } },
	};
	int err = parse(argc, argv, &command);

	if (err)
		return EXIT_STATUS_USAGE;
	log__init("denet-report", common_options__log_level(&command.common));
	show_events(&command.report);
	command.report.form.colours = terminal__wants_colours();
	command.report.form.width = terminal__width();
	command.report.height = terminal__height();
	err = report__run(&command.report);
	id_list__free(&command.report.filter.tids);
	return err ? EXIT_STATUS_ERROR : EXIT_STATUS_OK;
}
