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
#include "record/parse.h"
#include "record/recorder.h"
#include "record/targets.h"
#include "record/users.h"
#include "record/watch.h"

#define RECORD_MIN_WINDOW (10 * NSEC_PER_MSEC)
#define RECORD_MAX_OVERHEAD_PPM 30000
#define RECORD_MAX_FILES 100000
/* With --call-graph dwarf, unless something else is asked for. */
#define RECORD_COPY_PERIOD (10 * NSEC_PER_MSEC)
#define RECORD_COPY_RATE 1000
#define RECORD_MAX_RATE 100000000
#define RECORD_MAX_WINDOW (3600 * NSEC_PER_SEC)

/* Options without a letter. */
enum record_key {
	KEY_MAX_STACK = 0x100,
	KEY_CALL_GRAPH,
	KEY_RAW_STACKS,
	KEY_KERNEL_CALLCHAINS,
	KEY_USER_CALLCHAINS,
	KEY_OFF_CPU,
	KEY_HIST,
	KEY_JSON,
	KEY_THRESHOLD,
	KEY_PERIOD,
	KEY_MAX_RATE,
	KEY_MIN_BLOCK,
	KEY_MAX_BLOCK,
	KEY_STATE,
	KEY_WINDOW,
	KEY_NO_STILL_BLOCKED,
	KEY_SPLIT_RUNQUEUE,
	KEY_WAKERS,
	KEY_SKIP_IDLE,
	KEY_REASON,
	KEY_RAW_FRAMES,
	KEY_CAPTURE,
	KEY_KERNEL_THREADS,
	KEY_MAX_OVERHEAD,
	KEY_MAX_SIZE,
	KEY_SWITCH_OUTPUT,
	KEY_SWITCH_MAX_FILES,
	KEY_ALL_CGROUPS,
	KEY_BUILDID_CACHE,
	KEY_USAGE,
	KEY_VERSION,
};

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

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What is recorded (default: COMMAND, or else -a):", 1 },
	{ "all-cpus", 'a', NULL, 0, "Record every process", 1 },
	{ "pid", 'p', "PID,...", 0, "Record these processes", 1 },
	{ "tid", 't', "TID,...", 0, "Record these threads", 1 },
	{ "uid", 'u', "USER,...", 0, "Only threads of these users, by name or number", 1 },
	{ "cgroup", 'G', "PATH,...", 0,
	  "Only threads in these cgroups or below them; also the name or id of a container", 1 },
	{ "cpu", 'C', "LIST", 0, "Only blocks that end on these CPUs, as in 0-3,8", 1 },
	{ "delay", 'D', "MS", 0, "Let COMMAND run for so long before the recording begins", 1 },
	{ "no-inherit", 'i', NULL, 0, "Leave out what the targets start", 1 },
	{ "kernel-threads", KEY_KERNEL_THREADS, NULL, 0, "Record kernel threads as well", 1 },

	{ NULL, 0, NULL, 0, "Which blocks count:", 2 },
	{ "state", KEY_STATE, "LIST", 0,
	  "Off-CPU states, of R (preempted or yielded), S, D, T, t, I, P, or all "
	  "(default S,D)",
	  2 },
	{ "off-cpu-thresh", KEY_THRESHOLD, "TIME", 0,
	  "From this length on, a block is a sample of its own; shorter ones are summed up "
	  "(default 500ms; a bare number is ms; 0: each is a sample)",
	  2 },
	{ "off-cpu-period", KEY_PERIOD, "TIME", 0,
	  "Sample blocks below the threshold: one for each TIME off the CPU, on average, which "
	  "stands for that time (default: all count)",
	  2 },
	{ "off-cpu-max-rate", KEY_MAX_RATE, "HZ", 0,
	  "Sample so that about HZ samples come in a second, whatever the load", 2 },
	{ "min-block", KEY_MIN_BLOCK, "TIME", 0, "Leave out blocks that are shorter", 2 },
	{ "max-block", KEY_MAX_BLOCK, "TIME", 0, "Leave out blocks that are longer", 2 },
	{ "window", KEY_WINDOW, "TIME", 0,
	  "How long short blocks are summed up before they are written (default 1s)", 2 },
	{ "no-still-blocked", KEY_NO_STILL_BLOCKED, NULL, 0,
	  "Leave out threads that have not come back when the recording ends", 2 },
	{ "split-runqueue", KEY_SPLIT_RUNQUEUE, NULL, 0,
	  "Split blocks at their wake-up: what comes behind it, the wait for a CPU, goes to an "
	  "event runqueue-time",
	  2 },
	{ "wakers", KEY_WAKERS, NULL, 0,
	  "Record who woke the threads, and how much time that ended, as an event wakeup-time", 2 },
	{ "skip-idle", KEY_SKIP_IDLE, "FILE", OPTION_ARG_OPTIONAL,
	  "Leave out threads that wait for work, as in epoll_wait, accept or a condition "
	  "variable; FILE adds to the table of such calls",
	  2 },
	{ "off-cpu", KEY_OFF_CPU, NULL, 0, "Accepted: it is what this command does", 2 },

	{ NULL, 0, NULL, 0, "Callchains:", 3 },
	{ NULL, 'g', NULL, 0, "Accepted: callchains are always recorded", 3 },
	{ "call-graph", KEY_CALL_GRAPH, "MODE", 0,
	  "How to walk user stacks: fp (default), or dwarf[,BYTES], which needs no frame pointers "
	  "and copies BYTES of each stack (default 8192), or auto[,BYTES]: as the process needs it",
	  3 },
	{ "raw-stacks", KEY_RAW_STACKS, NULL, 0,
	  "With --call-graph dwarf: write the copies to the file, for perf to unwind", 3 },
	{ "max-stack", KEY_MAX_STACK, "N", 0,
	  "Most frames of each side, kernel and user (default and most: 127)", 3 },
	{ "kernel-callchains", KEY_KERNEL_CALLCHAINS, NULL, 0, "Kernel frames only", 3 },
	{ "user-callchains", KEY_USER_CALLCHAINS, NULL, 0, "User frames only", 3 },
	{ "raw-frames", KEY_RAW_FRAMES, NULL, 0,
	  "Keep the frames of the recorder itself and of the scheduler", 3 },

	{ "capture", KEY_CAPTURE, "WAY", 0,
	  "When stacks are walked: switch-in, switch-out or auto (default: at switch-in, for "
	  "blocks that are kept, where the kernel has a hook there)",
	  3 },

	{ NULL, 0, NULL, 0, "Output:", 4 },
	{ "output", 'o', "FILE", 0,
	  "Write FILE (default perf.data; one that exists becomes FILE.old; -: stdout)", 4 },
	{ "all-cgroups", KEY_ALL_CGROUPS, NULL, 0,
	  "Record the cgroup of each sample, for perf report --no-children --sort cgroup", 4 },
	{ "reason", KEY_REASON, NULL, 0,
	  "Record what each sample waited for, system call, file or socket, as the event "
	  "denet:offcpu_wait",
	  4 },
	{ "no-buildid", 'B', NULL, 0, "Do not read the build-ids of files", 4 },
	{ "buildid-cache", KEY_BUILDID_CACHE, NULL, 0,
	  "Copy what was hit to ~/.debug, for perf archive", 4 },
	{ "no-buildid-cache", 'N', NULL, 0, "Do not: this is the default", 4 },
	{ "mmap-pages", 'm', "PAGES", 0, "Size of each CPU's ring, in pages or with B, K, M, G",
	  4 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0,
	  "End the recording once the file has SIZE (with B, K, M, G)", 4 },
	{ "switch-output", KEY_SWITCH_OUTPUT, "SIZE|TIME", OPTION_ARG_OPTIONAL,
	  "Go on in another file after SIZE (B, K, M, G), TIME (s, m, h, d), or at SIGUSR2", 4 },
	{ "switch-max-files", KEY_SWITCH_MAX_FILES, "N", 0,
	  "Keep only the latest N files of --switch-output", 4 },
	{ "max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,
	  "Go over to sampling if the recording costs more than this share of a CPU "
	  "(default 3; 0: never)",
	  4 },
	{ "quiet", 'q', NULL, 0, "Print warnings and errors only", 4 },
	{ "verbose", 'v', NULL, 0, "Print the accounts in the end; twice: for debugging", 4 },

	{ "freq", 'F', "FREQ", OPTION_HIDDEN, NULL, 4 },
	{ "count", 'c', "COUNT", OPTION_HIDDEN, NULL, 4 },
	{ "event", 'e', "EVENT", OPTION_HIDDEN, NULL, 4 },

	{ NULL, 0, NULL, 0, "Instead of a recording:", 5 },
	{ "off-cpu-hist", KEY_HIST, NULL, 0,
	  "Print how long blocks are, and what each --off-cpu-thresh would cost; write no file",
	  5 },
	{ "json", KEY_JSON, NULL, 0, "Print that as JSON", 5 },

	{ "help", 'h', NULL, 0, "Print this list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Print a short usage message", -1 },
	{ "version", KEY_VERSION, NULL, 0, "Print the version", -1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

/* A usage error: says it, and where help is, and exits with 2. */
#define usage_error(state, ...) argp_error(state, __VA_ARGS__)

static void parse_time(struct argp_state *state, const char *option, const char *text, uint64_t *ns)
{
	int err = units__parse_time(text, NSEC_PER_MSEC, ns);

	if (err == -ERANGE)
		usage_error(state, "%s %s: too long", option, text);
	else if (err)
		usage_error(state, "%s %s: not a time, such as 20, 20ms, 1.5s, 100us or 800ns",
			    option, text);
}

static void parse_period(struct argp_state *state, const char *text, uint64_t *ns)
{
	parse_time(state, "--off-cpu-period", text, ns);
	if (*ns < NSEC_PER_USEC || *ns > CAPTURE_MAX_PERIOD_NS)
		usage_error(state, "--off-cpu-period %s: must be from 1us to 4s", text);
}

static void parse_rate(struct argp_state *state, const char *text, uint32_t *rate)
{
	uint64_t number;

	if (units__parse_number(text, RECORD_MAX_RATE, &number) || !number)
		usage_error(state, "--off-cpu-max-rate %s: must be a number from 1 to %d", text,
			    RECORD_MAX_RATE);
	*rate = (uint32_t)number;
}

static void parse_ids(struct argp_state *state, const char *option, const char *text,
		      struct id_list *list)
{
	int err = id_list__parse(list, text);

	if (err == -ENOMEM)
		argp_failure(state, EXIT_STATUS_ERROR, ENOMEM, "%s", option);
	else if (err == -ERANGE)
		usage_error(state, "%s %s: a number is too large", option, text);
	else if (err)
		usage_error(state, "%s %s: not a list of numbers, such as 42 or 42,43", option,
			    text);
}

static void parse_window(struct argp_state *state, const char *text, uint64_t *ns)
{
	parse_time(state, "--window", text, ns);
	if (*ns < RECORD_MIN_WINDOW || *ns > RECORD_MAX_WINDOW)
		usage_error(state, "--window %s: must be from 10ms to 3600s", text);
}

static void parse_max_stack(struct argp_state *state, const char *text, uint32_t *frames)
{
	uint64_t number;

	if (units__parse_number(text, CAPTURE_MAX_FRAMES, &number) || !number)
		usage_error(state, "--max-stack %s: must be a number from 1 to %d", text,
			    CAPTURE_MAX_FRAMES);
	*frames = (uint32_t)number;
}

static void parse_call_graph(struct argp_state *state, const char *text, struct record *record)
{
	uint32_t bytes = 0;
	int err = parse__call_graph(text, &record->call_graph, &bytes);

	if (err == -ERANGE)
		usage_error(state, "--call-graph %s: incorrect stack dump size (max %d)", text,
			    PARSE_MAX_DUMP);
	else if (err)
		usage_error(state, "--call-graph %s: must be fp, dwarf[,BYTES] or auto[,BYTES]",
			    text);
	record->dump_bytes = bytes;
}

static void parse_pages(struct argp_state *state, const char *text, uint32_t *pages)
{
	int err = parse__ring_pages(text, (size_t)sysconf(_SC_PAGESIZE), pages);

	if (err == -ERANGE)
		usage_error(state, "-m %s: must be from 1 page to 1G", text);
	else if (err)
		usage_error(state, "-m %s: not a number of pages, nor a size such as 512K", text);
}

static void parse_cpus(struct argp_state *state, const char *text, struct record *record)
{
	int err = cpus__parse(&record->cpus, text);

	if (err == -ERANGE)
		usage_error(state, "-C %s: a CPU is at most %d, and a range runs upwards", text,
			    CPUS_MAX - 1);
	else if (err)
		usage_error(state, "-C %s: not a list of CPUs, such as 2 or 0-3,8", text);
	record->has_cpus = true;
}

static void parse_delay(struct argp_state *state, const char *text, uint64_t *ns)
{
	if (!strcmp(text, "-1"))
		usage_error(state, "-D -1: to begin only when told so is not there yet; give the "
				   "delay in ms");
	parse_time(state, "-D", text, ns);
}

/* Appends a list to what an earlier option of the same letter gave. */
static void append_names(struct argp_state *state, const char *option, const char *text,
			 char **names)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *names ? *names : "", *names ? "," : "", text) < 0)
		argp_failure(state, EXIT_STATUS_ERROR, ENOMEM, "%s", option);
	free(*names);
	*names = joined;
}

/* What narrows the targets. */
static error_t parse_narrowing(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case 'u':
		append_names(state, "-u", text, &record->users);
		return 0;
	case 'G':
		append_names(state, "-G", text, &record->group_names);
		return 0;
	case 'C':
		parse_cpus(state, text, record);
		return 0;
	case 'D':
		parse_delay(state, text, &record->options.delay_ns);
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
		parse_ids(state, "-p", text, &record->pids);
		return 0;
	case 't':
		parse_ids(state, "-t", text, &record->tids);
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
		parse_time(state, "--off-cpu-thresh", text, &capture->threshold_ns);
		return 0;
	case KEY_PERIOD:
		parse_period(state, text, &capture->period_ns);
		return 0;
	case KEY_MAX_RATE:
		parse_rate(state, text, &record->options.max_rate);
		return 0;
	case KEY_MIN_BLOCK:
		parse_time(state, "--min-block", text, &capture->min_ns);
		return 0;
	case KEY_MAX_BLOCK:
		parse_time(state, "--max-block", text, &capture->max_ns);
		return 0;
	case KEY_WINDOW:
		parse_window(state, text, &record->options.window_ns);
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
		parse_call_graph(state, text, record);
		return 0;
	case KEY_RAW_STACKS:
		record->options.raw_stacks = true;
		return 0;
	case KEY_MAX_STACK:
		parse_max_stack(state, text, &capture->max_frames);
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

static void parse_max_size(struct argp_state *state, const char *text, uint64_t *bytes)
{
	if (units__parse_size(text, bytes) || !*bytes)
		usage_error(state, "--max-size %s: not a size, such as 500K, 100M or 2G", text);
}

static void parse_switch(struct argp_state *state, const char *text,
			 struct rotation_options *rotation)
{
	if (rotation__parse(rotation, text ? text : "signal"))
		usage_error(state,
			    "--switch-output=%s: not a size such as 100M, nor a time such "
			    "as 30s, 10m, 1h or 1d",
			    text);
}

static void parse_max_files(struct argp_state *state, const char *text, uint64_t *files)
{
	if (units__parse_number(text, RECORD_MAX_FILES, files) || !*files)
		usage_error(state, "--switch-max-files %s: must be a number from 1 to %d", text,
			    RECORD_MAX_FILES);
}

static error_t parse_ceiling(int key, char *text, struct argp_state *state)
{
	struct record *record = state->input;
	struct recorder_options *options = &record->options;

	switch (key) {
	case KEY_MAX_SIZE:
		parse_max_size(state, text, &options->max_size);
		return 0;
	case KEY_SWITCH_OUTPUT:
		parse_switch(state, text, &options->rotation);
		return 0;
	case KEY_SWITCH_MAX_FILES:
		parse_max_files(state, text, &options->rotation.max_files);
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
		parse_pages(state, text, &record->options.capture.ring_pages);
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

/* What says how samples are made, or what is in the file: there is neither in a histogram. */
static bool is_of_recording(int key)
{
	static const int keys[] = {
		KEY_THRESHOLD, KEY_PERIOD, KEY_MAX_RATE, KEY_WINDOW, KEY_SPLIT_RUNQUEUE,
		KEY_WAKERS, KEY_SKIP_IDLE, KEY_CALL_GRAPH, KEY_RAW_STACKS, KEY_MAX_STACK,
		KEY_KERNEL_CALLCHAINS,
		KEY_USER_CALLCHAINS, KEY_RAW_FRAMES, 'o', KEY_ALL_CGROUPS, KEY_REASON, 'B',
		KEY_BUILDID_CACHE, 'm', KEY_MAX_SIZE, KEY_SWITCH_OUTPUT, KEY_SWITCH_MAX_FILES,
		KEY_MAX_OVERHEAD,
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

/* The name of an option that has a long one. */
static const char *option_name(int key)
{
	const struct argp_option *option = option_table;

	while (option->key != key || !option->name)
		option++;
	return option->name;
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
			    option_name(record->of_recording));
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

	if (!record->of_recording && is_of_recording(key))
		record->of_recording = key;
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		err = parsers[i](key, text, state);
		if (err != ARGP_ERR_UNKNOWN)
			return err;
	}
	return parse_rest(key, state);
}

static const struct argp argp = {
	.options = option_table,
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

/* A service that is restarted gets a cgroup of its old name, which is another one to us. */
static void warn_of_gone_groups(const struct record *record)
{
	struct cgroup_mounts mounts = { 0 };
	size_t gone = 0;

	if (!record->groups.nr || cgroup_mounts__read(&mounts, NULL))
		return;
	if (!cgroup_list__count_gone(&record->groups, &mounts, &gone) && gone)
		pr_warn("-G %s: removed meanwhile (cgroups: %zu); what was made anew under that "
			"name is not recorded: the cgroup above it has both",
			record->group_names, gone);
	cgroup_mounts__free(&mounts);
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
	else
		warn_of_gone_groups(&record);
out:
	record__free(&record);
	return status;
}
