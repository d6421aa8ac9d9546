/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/advice.h"

#include <limits.h>
#include <string.h>

#include "base/command_name.h"
#include "base/shell_quote.h"

struct advice {
	const struct recording *recording;
	const struct report_options *options; /* what is shown already */
	char input[4 * PATH_MAX + 16]; /* the option that names the file, with a blank behind it */
	FILE *out;
};

static void suggest(const struct advice *advice, const char *options, const char *what)
{
	char name[COMMAND_NAME_MAX];

	/* Input from a pipe cannot be read again. */
	if (strcmp(advice->recording->path, "-"))
		fprintf(advice->out, "next: %s %s%s %s\n",
			command_name__of("report", name, sizeof(name)), advice->input, options,
			what);
}

static void suggest_recording(const struct advice *advice, const char *option, const char *what)
{
	char name[COMMAND_NAME_MAX];

	fprintf(advice->out, "next: %s %s %s\n", command_name__of("record", name, sizeof(name)),
		option, what);
}

static void advise_on_blocks(const struct advice *advice)
{
	const struct recording *recording = advice->recording;

	if (!recording->has_reasons)
		suggest_recording(advice, "--reason", "tells which lock, file or socket it was");
	else if (locks__nr(&recording->locks) && !advice->options->locks)
		suggest(advice, "--locks", "tells who holds and releases the locks");
	if (!profile__sum(recording->profile, PROFILE_WAKEUP).samples)
		suggest_recording(advice, "--wakers", "tells which threads ended the waits");
	else if (!advice->options->wakers)
		suggest(advice, "--wakers", "tells which threads ended the waits");
}

static void advise_on_running(const struct advice *advice)
{
	suggest(advice, "--event on-cpu-time --sort comm,sym", "tells which functions ran");
}

static void advise_on_waits_for_cpus(const struct advice *advice)
{
	suggest(advice, "--sort pid,state", "tells which processes share the CPUs");
	if (!profile__sum(advice->recording->profile, PROFILE_ONCPU).samples)
		suggest_recording(advice, "-a --wall", "tells which threads ran meanwhile");
}

void advice__print(const struct recording *recording, const struct shares *shares,
		   const struct report_options *options, FILE *out)
{
	struct advice advice = { .recording = recording, .options = options, .out = out };
	char file[4 * PATH_MAX + 8];

	if (strcmp(recording->path, "perf.data"))
		snprintf(advice.input, sizeof(advice.input), "-i %s ",
			 shell_quote__path(recording->path, file, sizeof(file)));
	if (!shares->total)
		return;
	if (shares->running.ns >= shares->blocked.ns && shares->running.ns >= shares->runnable.ns)
		advise_on_running(&advice);
	else if (shares->runnable.ns > shares->blocked.ns)
		advise_on_waits_for_cpus(&advice);
	else
		advise_on_blocks(&advice);
	suggest(&advice, "--flamegraph page.html", "shows all stacks in a browser");
}
