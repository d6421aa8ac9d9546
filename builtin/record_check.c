/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of denet-record, held against each other. */
#include "record.h"

#include <string.h>
#include <unistd.h>

#include "record_options.h"
#include "record_values.h"

void record__check(const struct record *record, struct argp_state *state)
{
	const struct capture_options *capture = &record->options.capture;

	if (capture->all && record->pids.nr)
		usage_error(state, "-a and -p exclude each other");
	if (capture->all && record->tids.nr)
		usage_error(state, "-a and -t exclude each other");
	if (record->only_kernel && record->only_user)
		usage_error(state, "--kernel-callchains and --user-callchains exclude each other");
	if (record->hist && record->of_recording)
		usage_error(state,
			    "--off-cpu-hist makes no recording: it and --%s exclude each other",
			    record_options__name(record->of_recording));
	if (record->json && !record->hist)
		usage_error(state, "--json needs --off-cpu-hist");
	if (capture->period_ns && !capture->threshold_ns)
		usage_error(state, "--off-cpu-thresh 0 keeps every block: nothing is left for "
				   "--off-cpu-period to sample");
	if (capture->min_ns > capture->max_ns)
		usage_error(state, "--min-block is longer than --max-block: nothing is left");
	if (record->options.no_build_ids && record->options.fill_cache)
		usage_error(state, "-B and --buildid-cache exclude each other");
	if (record->options.rotation.max_files && !record->options.rotation.enabled)
		usage_error(state, "--switch-max-files needs --switch-output");
	if (record->options.rotation.enabled && !strcmp(record->options.output, "-"))
		usage_error(state, "--switch-output and -o - exclude each other");
	if (record->options.raw_stacks && record->call_graph != CALL_GRAPH_DWARF)
		usage_error(state, "--raw-stacks needs --call-graph dwarf");
	if (record->options.raw_stacks && record->options.rotation.enabled)
		usage_error(state, "--raw-stacks and --switch-output exclude each other");
	if (record->call_graph != CALL_GRAPH_FP && record->only_kernel)
		usage_error(state, "--call-graph and --kernel-callchains exclude each other");
	if (record->options.quiet && record->verbose)
		usage_error(state, "-q and -v exclude each other");
	if (!strcmp(record->options.output, "-") && isatty(STDOUT_FILENO))
		usage_error(state, "-o -: stdout is a terminal; pipe it into perf, as in "
				   "`denet-record -o - ... | perf script -i -`");
}
