/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/whole_file.h"
#include "output/folded/folded.h"
#include "output/json/json.h"
#include "report/recording.h"
#include "report/screen.h"

struct report {
	const struct report_options *options;
	struct recording recording;
	struct recording other; /* that it is compared with; empty: with none */
};

/* In place of the screen. 0 or a negative errno, logged. */
static int print_text(const struct profile *profile,
		      int (*write)(const struct profile *profile, FILE *out))
{
	int err = whole_file__write_error(write(profile, stdout));

	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		pr_err("cannot write to standard output: %s", strerror(-err));
	return err;
}

static int print_screen(const struct report *report)
{
	int err = whole_file__write_error(
		screen__print(&report->recording, report->options, stdout));

	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		pr_err("cannot print the report: %s", strerror(-err));
	return err;
}

static int print(const struct report *report)
{
	const struct report_options *options = report->options;
	const struct flamegraph_other other = { report->other.profile, report->other.path };
	const struct profile *profile = report->recording.profile;
	int err = 0;

	if (options->folded)
		err = print_text(profile, folded__write);
	else if (options->outputs.json)
		err = print_text(profile, json__write);
	else if (!output_files__any(&options->outputs))
		return print_screen(report);
	return err ? err : output_files__write(&options->outputs, profile,
					       other.profile ? &other : NULL);
}

int report__run(const struct report_options *options)
{
	struct report report = { .options = options };
	int err = recording__read(&report.recording, options->input, &options->symbols,
				  &options->filter);

	if (!err && options->outputs.diff)
		err = recording__read(&report.other, options->outputs.diff, &options->symbols,
				      &options->filter);
	if (!err)
		err = print(&report);
	recording__close(&report.other);
	recording__close(&report.recording);
	return err;
}
