/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of denet-record, one by one as argp meets them, into its struct. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>

#include "builtin.h"
#include "record_options.h"
#include "record_values.h"

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

/* Which blocks count, by their state and length. */
static error_t parse_block(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct capture_options *capture = &record->options.capture;

	switch (key) {
	case KEY_STATE:
		if (parse__states(text, &capture->states))
			usage_error(state, "--state %s: not a list of R, S, D, T, t, I, P, or all",
				    text);
		record->has_states = true;
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
	}
	return ARGP_ERR_UNKNOWN;
}

/* Of these options, those without a value that is needed. */
static error_t parse_block_switch(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct capture_options *capture = &record->options.capture;

	switch (key) {
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
		if (parse__attach_hook(text, &capture->hook))
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
		record__check(record, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	error_t (*const parsers[])(int key, char *text, struct argp_state *state) = {
		parse_target,	 parse_narrowing, parse_block, parse_block_switch,
		parse_callchain, parse_output,	  parse_ceiling, parse_hist, parse_help,
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

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARG...]]",
	.doc = "Record where threads lose time off the CPU, with kernel and user callchains, "
	       "into a file that perf reads.\v"
	       "The exit status is COMMAND's, 1 after an error, 2 after a usage error.\n"
	       "`man denet-record` tells more.",
};

/* The whole of queued-time is asked for: threads that were preempted are most of it. */
static void count_preempted(struct record *record)
{
	if (record->options.capture.split_runqueue && !record->has_states)
		record->options.capture.states |= capture__state_bit('R');
}

int record__parse(struct record *record, int argc, char **argv)
{
	error_t err;

	argp_err_exit_status = EXIT_STATUS_USAGE;
	err = argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, record);
	if (!err)
		count_preempted(record);
	return err;
}
