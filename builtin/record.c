/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-record: options in, a recording out. What it does is in util/record/. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "capture/idle.h"
#include "host/cgroup.h"
#include "host/cpus.h"
#include "host/pidns.h"
#include "record_options.h"
#include "record_values.h"
#include "record/parse.h"
#include "record/recorder.h"
#include "record/targets.h"
#include "record/users.h"
#include "record/watch.h"

#define RECORD_MAX_OVERHEAD_PPM 30000
/* With --call-graph dwarf, unless something else is asked for. */
#define RECORD_COPY_PERIOD (10 * NSEC_PER_MSEC)
#define RECORD_COPY_RATE 1000

/* What is being parsed; owns the lists. */
struct record {
	struct recorder_options options;
	struct id_list pids;
	struct id_list tids;
	struct id_list uids;
	struct cpus cpus;
	struct cgroup_list groups;
	char *users; /* names, apart by commas, until they are looked up */
	char *group_names;
	struct idle_table idle;
	const char *idle_file;
	enum call_graph call_graph;
	uint32_t dump_bytes; /* of CALL_GRAPH_DWARF */
	bool skip_idle;
	bool has_cpus;
	bool only_kernel;
	bool only_user;
	bool hist; /* no recording: how long blocks are */
	bool json;
	int of_recording; /* the key of an option that only a recording has, 0: none */
	int verbose;
};

/* What narrows the targets. */
static error_t parse_narrowing(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case 'u':
		record_value__names(state, "-u", text, &record->users);
		return 0;
	case 'G':
		record_value__names(state, "-G", text, &record->group_names);
		return 0;
	case 'C':
		record_value__cpus(state, text, &record->cpus);
		record->has_cpus = true;
		return 0;
	case 'D':
		record_value__delay(state, text, &record->options.delay_ns);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_target(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct capture_options *capture = &record->options.capture;

	switch (key) {
	case 'a':
		capture->all = true;
		return 0;
	case 'p':
		record_value__ids(state, "-p", text, &record->pids);
		return 0;
	case 't':
		record_value__ids(state, "-t", text, &record->tids);
		return 0;
	case 'i':
		capture->no_inherit = true;
		return 0;
	case KEY_KERNEL_THREADS:
		capture->kernel_threads = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_block(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct capture_options *capture = &record->options.capture;

	switch (key) {
	case KEY_STATE:
		if (parse__states(text, &capture->states))
			usage_error(state, "--state %s: not a list of R, S, D, T, t, I, P, or all",
				    text);
		return 0;
	case KEY_THRESHOLD:
		record_value__time(state, "--off-cpu-thresh", text, &capture->threshold_ns);
		return 0;
	case KEY_PERIOD:
		record_value__period(state, text, &capture->period_ns);
		return 0;
	case KEY_MAX_RATE:
		record_value__rate(state, text, &record->options.max_rate);
		return 0;
	case KEY_MIN_BLOCK:
		record_value__time(state, "--min-block", text, &capture->min_ns);
		return 0;
	case KEY_MAX_BLOCK:
		record_value__time(state, "--max-block", text, &capture->max_ns);
		return 0;
	case KEY_WINDOW:
		record_value__window(state, text, &record->options.window_ns);
		return 0;
	case KEY_NO_STILL_BLOCKED:
		capture->no_still_blocked = true;
		return 0;
	case KEY_SPLIT_RUNQUEUE:
		capture->split_runqueue = true;
		return 0;
	case KEY_WAKERS:
		capture->wakers = true;
		return 0;
	case KEY_SKIP_IDLE:
		record->skip_idle = true;
		record->idle_file = text;
		return 0;
	case KEY_OFF_CPU:
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_callchain(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct capture_options *capture = &record->options.capture;

	switch (key) {
	case 'g':
		return 0;
	case KEY_CALL_GRAPH:
		record_value__call_graph(state, text, &record->call_graph, &record->dump_bytes);
		return 0;
	case KEY_RAW_STACKS:
		record->options.raw_stacks = true;
		return 0;
	case KEY_MAX_STACK:
		record_value__max_stack(state, text, &capture->max_frames);
		return 0;
	case KEY_KERNEL_CALLCHAINS:
		record->only_kernel = true;
		return 0;
	case KEY_USER_CALLCHAINS:
		record->only_user = true;
		return 0;
	case KEY_RAW_FRAMES:
		capture->raw_frames = true;
		return 0;
	case KEY_CAPTURE:
		if (parse__capture_way(text, &capture->way))
			usage_error(state, "--capture %s: must be auto, switch-in or switch-out",
				    text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_ceiling(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct recorder_options *options = &record->options;

	switch (key) {
	case KEY_MAX_SIZE:
		record_value__max_size(state, text, &options->max_size);
		return 0;
	case KEY_SWITCH_OUTPUT:
		record_value__switch_output(state, text, &options->rotation);
		return 0;
	case KEY_SWITCH_MAX_FILES:
		record_value__max_files(state, text, &options->rotation.max_files);
		return 0;
	case KEY_MAX_OVERHEAD:
		if (parse__percent(text, &options->max_overhead_ppm))
			usage_error(state,
				    "--max-overhead %s: not a share from 0 to 100 %%, such "
				    "as 3 or 0.5",
				    text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_output(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case 'o':
		if (!*text)
			usage_error(state, "-o: the name of the file is empty");
		record->options.output = text;
		return 0;
	case 'B':
		record->options.no_build_ids = true;
		return 0;
	case KEY_BUILDID_CACHE:
		record->options.fill_cache = true;
		return 0;
	case 'N':
		record->options.fill_cache = false;
		return 0;
	case KEY_ALL_CGROUPS:
		record->options.capture.cgroups = true;
		return 0;
	case KEY_REASON:
		record->options.capture.reasons = true;
		return 0;
	case 'm':
		record_value__pages(state, text, &record->options.capture.ring_pages);
		return 0;
	case 'q':
		record->options.quiet = true;
		return 0;
	case 'v':
		record->verbose++;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_hist(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;

	(void)text;
	switch (key) {
	case KEY_HIST:
		record->hist = true;
		return 0;
	case KEY_JSON:
		record->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_help(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case KEY_VERSION:
		printf("denet-record %s\n", DENET_VERSION);
		exit(EXIT_STATUS_OK);
	case 'F':
	case 'c':
	case 'e':
		usage_error(state, "-%c %s: kept for on-CPU events, which are not there yet", key,
			    text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* What no single option can see. */
static void check_together(const struct record *record, struct argp_state *state)
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

static error_t parse_rest(int key, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		/* COMMAND: it and all that follows are not ours. */
		record->options.command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check_together(record, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	error_t (*const parsers[])(int key, char *text, struct argp_state *state) = {
		parse_target, parse_narrowing, parse_block, parse_callchain,
		parse_output, parse_ceiling,   parse_hist,	  parse_help,
	};
	struct record *record = state->input;
	error_t err;

	if (!record->of_recording && record_options__is_of_recording(key))
		record->of_recording = key;
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		err = parsers[i](key, text, state);
		if (err != ARGP_ERR_UNKNOWN)
			return err;
	}
	return parse_rest(key, state);
}

static const struct argp argp = {
	.options = record_options,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARG...]]",
	.doc = "Record where threads lose time off the CPU, with kernel and user callchains, "
	       "into a file that perf reads.\v"
	       "The exit status is COMMAND's, 1 after an error, 2 after a usage error.\n"
	       "`man denet-record` tells more.",
};

static void record__init(struct record *record, int argc, char **argv)
{
	capture_options__init(&record->options.capture);
	record->options.output = "perf.data";
	record->options.window_ns = NSEC_PER_SEC;
	record->options.max_overhead_ppm = RECORD_MAX_OVERHEAD_PPM;
	record->options.argc = argc;
	record->options.argv = (const char *const *)argv;
}

/* Copies are too large to take one of each short block: those are drawn. */
static void settle_copies(struct record *record)
{
	struct capture_options *capture = &record->options.capture;

	/* The rest of a record of perf is its own. */
	capture->copy_bytes =
		record->dump_bytes < CAPTURE_MAX_COPY ? record->dump_bytes : CAPTURE_MAX_COPY;
	capture->copy_chosen = record->call_graph == CALL_GRAPH_AUTO;
	if (capture->copy_chosen || !capture->threshold_ns || capture->period_ns ||
	    record->options.max_rate)
		return;
	capture->period_ns = RECORD_COPY_PERIOD;
	record->options.max_rate = RECORD_COPY_RATE;
}

/* The parsed options, as the recorder wants them. */
static void record__settle(struct record *record)
{
	struct capture_options *capture = &record->options.capture;

	capture->pids = record->pids.ids;
	capture->nr_pids = record->pids.nr;
	capture->tids = record->tids.ids;
	capture->nr_tids = record->tids.nr;
	/* What narrows the targets needs some: all of them, if none is named. */
	if (!record->pids.nr && !record->tids.nr &&
	    (!record->options.command || record->users || record->group_names || record->has_cpus))
		capture->all = true;
	capture->kernel_stacks = !record->only_user;
	capture->user_stacks = !record->only_kernel;
	if (record->call_graph != CALL_GRAPH_FP)
		settle_copies(record);
}

/* The table of waits for work: the built-in one, and what the user adds. */
static int record__read_idle(struct record *record)
{
	int err = idle_table__init(&record->idle);

	if (!err && record->idle_file)
		err = idle_table__read(&record->idle, record->idle_file);
	record->options.capture.idle = &record->idle;
	return err;
}

/* Looks all names up on this machine. 0 or a negative errno (logged). */
static int record__resolve(struct record *record)
{
	struct capture_options *capture = &record->options.capture;
	struct cgroup_mounts mounts = { 0 };
	int err;

	err = pidns__check_proc();
	if (!err)
		err = targets__check(&record->pids, &record->tids);
	if (!err && record->users)
		err = users__resolve(&record->uids, record->users);
	if (!err && record->has_cpus)
		err = cpus__check(&record->cpus);
	if (!err && record->group_names) {
		err = cgroup_mounts__read(&mounts, NULL);
		if (!err)
			err = cgroup_list__resolve(&record->groups, &mounts, record->group_names);
		cgroup_mounts__free(&mounts);
	}
	if (!err && record->skip_idle)
		err = record__read_idle(record);
	capture->uids = (const uint32_t *)record->uids.ids;
	capture->nr_uids = record->uids.nr;
	capture->groups = record->groups.refs;
	capture->nr_groups = record->groups.nr;
	capture->cpu_bits = record->has_cpus ? record->cpus.bits : NULL;
	return err;
}

static void record__free(struct record *record)
{
	id_list__free(&record->pids);
	id_list__free(&record->tids);
	id_list__free(&record->uids);
	cgroup_list__free(&record->groups);
	idle_table__free(&record->idle);
	free(record->users);
	free(record->group_names);
}

/* From the checked options to the exit status: a watch, or else a recording. */
static int record__run(const struct record *record, int *status)
{
	const struct watch_options watch = {
		.capture = record->options.capture,
		.delay_ns = record->options.delay_ns,
		.command = record->options.command,
		.json = record->json,
		.quiet = record->options.quiet,
	};

	return record->hist ? watch__run(&watch, status) : recorder__run(&record->options, status);
}

int cmd_record(int argc, char **argv)
{
	struct record record = { 0 };
	enum log_level level = LOG_INFO;
	int status = EXIT_STATUS_ERROR;

	argp_err_exit_status = EXIT_STATUS_USAGE;
	record__init(&record, argc, argv);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &record))
		goto out;
	record__settle(&record);
	if (record.options.quiet)
		level = LOG_WARNING;
	else if (record.verbose)
		level = record.verbose > 1 ? LOG_DEBUG : LOG_VERBOSE;
	log__init("denet-record", level);
	if (record__resolve(&record) || record__run(&record, &status))
		status = EXIT_STATUS_ERROR;
out:
	record__free(&record);
	return status;
}
