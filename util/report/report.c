/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "output/flamegraph/flamegraph.h"
#include "output/folded/folded.h"
#include "output/json/json.h"
#include "output/pprof/pprof.h"
#include "output/speedscope/speedscope.h"
#include "report/recording.h"
#include "report/screen.h"

struct report {
	const struct report_options *options;
	struct recording recording;
	struct recording other; /* that it is compared with; empty: with none */
};

typedef int (*write_fn)(const struct report *report, FILE *out);

static int write_folded(const struct report *report, FILE *out)
{
	return folded__write(report->recording.profile, out);
}

static int write_json(const struct report *report, FILE *out)
{
	return json__write(report->recording.profile, out);
}

static int write_flamegraph(const struct report *report, FILE *out)
{
	const struct flamegraph_other other = { report->other.profile, report->other.path };

	return flamegraph__write(report->recording.profile, other.profile ? &other : NULL, out);
}

static int write_pprof(const struct report *report, FILE *out)
{
	return pprof__write(report->recording.profile, out);
}

static int write_speedscope(const struct report *report, FILE *out)
{
	return speedscope__write(report->recording.profile, out);
}

/* Writes an output to a file; path NULL: it is not wanted. 0 or a negative errno, logged. */
static int write_file(const struct report *report, const char *path, write_fn write)
{
	FILE *out = stdout;
	int err;

	if (!path)
		return 0;
	if (strcmp(path, "-"))
		out = fopen(path, "we");
	err = out ? write(report, out) : -errno;
	if (out && fflush(out) && !err)
		err = -errno;
	if (out && out != stdout && fclose(out) && !err)
		err = -errno;
	if (err)
		pr_err("cannot write %s: %s", path, strerror(-err));
	return err;
}

static int print_screen(const struct report *report)
{
	int err = screen__print(&report->recording, report->options, stdout);

	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		pr_err("cannot print the report: %s", strerror(-err));
	return err;
}

static int print(const struct report *report)
{
	const struct report_options *options = report->options;
	const struct {
		const char *path;
		write_fn write;
	} outputs[] = {
		{ options->folded ? "-" : NULL, write_folded },
		{ options->json ? "-" : NULL, write_json },
		{ options->flamegraph, write_flamegraph },
		{ options->pprof, write_pprof },
		{ options->speedscope, write_speedscope },
	};
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && !err; i++) {
		any |= outputs[i].path != NULL;
		err = write_file(report, outputs[i].path, outputs[i].write);
	}
	return any || err ? err : print_screen(report);
}

int report__run(const struct report_options *options)
{
	struct report report = { .options = options };
	int err = recording__read(&report.recording, options->input, &options->symbols,
				  &options->filter);

	if (!err && options->diff)
		err = recording__read(&report.other, options->diff, &options->symbols,
				      &options->filter);
	if (!err)
		err = print(&report);
	recording__close(&report.other);
	recording__close(&report.recording);
	return err;
}
