/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-offcputime: bcc's offcputime, options and text. The work is done in util/offcputime/. */
#include "offcputime/offcputime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "builtin.h"
#include "builtin/options/common.h"
#include "builtin/options/output_files.h"
#include "builtin/options/stack.h"
#include "builtin/options/symbol.h"
#include "builtin/options/target.h"
#include "builtin/options/values.h"

/* The greatest number of us that fits into a number of ns. */
#define MAX_USEC (UINT64_MAX / NSEC_PER_USEC - 1)
#define MIN_INTERVAL_NS (100 * NSEC_PER_MSEC)

/* The values of its options. */
struct offcputime_command {
	struct offcputime_options trace;
	struct target_options target;
	struct common_options common;
	bool user_threads, kernel_threads;
	bool user_stacks, kernel_stacks;
	const char *output; /* NULL: standard output */
	char *threads; /* for the first line */
};

static void set_usec(const struct option_value *value, void *field)
{
	*(uint64_t *)field = option_value__number(value, MAX_USEC) * NSEC_PER_USEC;
}

/* bcc compares whole us: a block of 10.9 us is not longer than 10. */
static void set_max(const struct option_value *value, void *field)
{
	set_usec(value, field);
	*(uint64_t *)field += NSEC_PER_USEC - 1;
}

static void set_states(const struct option_value *value, void *field)
{
	uint64_t mask;
	bool is_mask = !units__parse_number(value->text, UINT32_MAX, &mask);

	if (is_mask ? capture_states__of_mask(field, mask) :
		      capture_states__parse(field, value->text))
		option_value__error(value, "neither a mask of the kernel's task states, such as 1 "
					   "or 2, nor a list of R, S, D, T, t, I, P, or all");
}

static void set_by(const struct option_value *value, void *field)
{
	static const char *const names[] = {
		[BCC_BY_TID] = "tid", [BCC_BY_PID] = "pid", [BCC_BY_COMM] = "comm"
	};
	enum bcc_by *by = field;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value->text, names[i])) {
			*by = (enum bcc_by)i;
			return;
		}
	}
	option_value__error(value, "not comm, pid or tid");
}

/* A depth beyond the limit is no error: it shows all frames. */
static void set_depth(const struct option_value *value, void *field)
{
	*(uint32_t *)field =
		(uint32_t)min_u64(option_value__number(value, UINT32_MAX), CAPTURE_MAX_FRAMES);
}

/* Refused: the kernel would have to pass on a copy of the stack for each block. */
static void set_call_graph(const struct option_value *value, void *field)
{
	struct capture_copies *copies = field;

	if (capture_copies__parse(copies, value->text))
		option_value__error(value, "must be fp, auto or tables");
	if (copies->bytes && !copies->tables)
		option_value__error(value, "copies of stacks cannot be summed up in the kernel; "
					   "tables unwinds by the same tables there, and "
					   "denet-record takes copies");
}

static void set_interval(const struct option_value *value, void *field)
{
	uint64_t *ns = field;

	if (units__parse_time(value->text, NSEC_PER_SEC, ns) || *ns < MIN_INTERVAL_NS)
		option_value__error(value, "not a time in seconds, of 0.1 at least");
}

static void set_storage(const struct option_value *value, void *field)
{
	(void)field;
	option_value__number(value, UINT32_MAX);
}

#define COMMAND(fn, type, field) OPTION_FIELD(fn, type, struct offcputime_command, field)
#define CAPTURE(fn, type, field) COMMAND(fn, type, trace.session.capture.field)

static const struct option_row thread_rows[] = {
	{ "user-threads-only", 'u', .text = "User threads only (no kernel threads)",
	  OPTION_TRUE(struct offcputime_command, user_threads) },
	{ "useronly", .hidden = true, OPTION_TRUE(struct offcputime_command, user_threads) },
	{ "kernel-threads-only", 'k', .text = "Kernel threads only (no user threads)",
	  OPTION_TRUE(struct offcputime_command, kernel_threads) },
	{ "never-ran",
	  .text = "Show threads that were blocked all the time, as -p, -t, -G and COMMAND do",
	  OPTION_TRUE(struct offcputime_command, trace.never_ran) },
};

static const struct option_row block_rows[] = {
	{ "min-block-time", 'm', .arg = "US", .text = "Drop blocks shorter than US microseconds",
	  CAPTURE(set_usec, uint64_t, filter.min_ns) },
	{ "max-block-time", 'M', .arg = "US", .text = "Drop blocks longer than US microseconds",
	  CAPTURE(set_max, uint64_t, filter.max_ns) },
	{ "state", .arg = "STATE",
	  .text = "Off-CPU states: a mask as in the kernel's linux/sched.h (1: S, 2: D, 0: R), or "
		  "letters of R, S, D, T, t, I, P (default all)",
	  CAPTURE(set_states, uint32_t, filter.states) },
};

static const struct option_row stack_rows[] = {
	{ "call-graph", .arg = "MODE",
	  .text = "How to unwind user stacks, in the kernel: auto (the default: unwind tables, and "
		  "frame pointers where there are none), tables (auto, with a warning if it is "
		  "not possible) or fp (frame pointers)",
	  CAPTURE(set_call_graph, struct capture_copies, stacks.copies) },
	{ "user-stacks-only", 'U', .text = "User frames only",
	  OPTION_TRUE(struct offcputime_command, user_stacks) },
	{ "kernel-stacks-only", 'K', .text = "Kernel frames only",
	  OPTION_TRUE(struct offcputime_command, kernel_stacks) },
	{ "perf-max-stack-depth", .arg = "N",
	  .text = "Maximum number of frames, each of kernel and user (default and maximum: 127)",
	  CAPTURE(set_depth, uint32_t, stacks.max_frames) },
	{ "stack-storage-size", .arg = "N",
	  .text = "Accepted for compatibility; there is room for all stacks",
	  .set = set_storage },
};

static const struct option_row output_rows[] = {
	{ "folded", 'f', .text = "Print a line for each stack, its outermost frame first",
	  OPTION_TRUE(struct offcputime_command, trace.form.folded) },
	{ "delimited", 'd', .text = "Print a delimiter between kernel and user frames",
	  OPTION_TRUE(struct offcputime_command, trace.form.delimited) },
	{ "libbpf", .text = "Print as the offcputime of libbpf-tools does",
	  OPTION_TRUE(struct offcputime_command, trace.form.libbpf) },
	{ "ns", .text = "Print nanoseconds",
	  OPTION_TRUE(struct offcputime_command, trace.form.ns) },
	{ "output", 'o', .arg = "FILE", .text = "Print into FILE, which is there once it is whole",
	  OPTION_TEXT(struct offcputime_command, output) },
	{ "interval", .arg = "SECONDS", .text = "Print, and begin anew, every SECONDS",
	  COMMAND(set_interval, uint64_t, trace.interval_ns) },
	{ "by", .arg = "KEY", .text = "Tell threads apart by tid (default), pid or comm",
	  COMMAND(set_by, enum bcc_by, trace.form.by) },
};

static const struct option_row log_rows[] = {
	{ "quiet", 'q', .text = "Print warnings and errors only besides the result",
	  OPTION_TRUE(struct common_options, quiet) },
	{ "verbose", 'v',
	  .text = "Print addresses in front of names, and all accounts at the end; twice: also "
		  "debug messages",
	  OPTION_COUNT(struct common_options, verbose) },
};

static void check_threads(const struct options *options, const void *values)
{
	const struct offcputime_command *command = values;
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{ command->target.pids.nr != 0, "pid" },
		{ command->target.tids.nr != 0, "tid" },
		{ command->user_threads, "user-threads-only" },
		{ command->kernel_threads, "kernel-threads-only" },
	};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].given && first)
			options__exclude(options, first, all[i].name);
		if (all[i].given)
			first = all[i].name;
	}
}

static void check_blocks(const struct options *options, const void *values)
{
	const struct offcputime_command *command = values;
	const struct capture_filter *filter = &command->trace.session.capture.filter;

	if (filter->min_ns > filter->max_ns)
		options__error(options, "-m is greater than -M: no block matches");
}

static void check_stacks(const struct options *options, const void *values)
{
	const struct offcputime_command *command = values;

	if (command->user_stacks && command->kernel_stacks)
		options__exclude(options, "user-stacks-only", "kernel-stacks-only");
	if (command->kernel_threads && command->user_stacks)
		options__error(options, "-k and -U exclude each other: kernel threads have no user "
					"frames");
	if (command->kernel_stacks && command->trace.session.capture.stacks.copies.asked_for)
		options__exclude(options, "call-graph", "kernel-stacks-only");
}

/* Text goes to standard output where there are no files, too. */
static void check_files(const struct options *options, const struct offcputime_command *command)
{
	const struct output_files *files = &command->trace.outputs;
	const struct bcc_form *form = &command->trace.form;
	const char *option = command->output ? "output" : files->json ? "json" : form->folded ?
			     "folded" : form->libbpf ? "libbpf" : NULL;

	output_files__check(options, files, option, command->output ? command->output :
							      option ? "-" : NULL);
}

static void check_output(const struct options *options, const void *values)
{
	const struct offcputime_command *command = values;
	const struct bcc_form *form = &command->trace.form;

	if (form->libbpf && form->folded)
		options__exclude(options, "libbpf", "folded");
	if (form->libbpf && form->delimited)
		options__exclude(options, "libbpf", "delimited");
	if (command->trace.outputs.json && form->folded)
		options__exclude(options, "json", "folded");
	if (command->trace.outputs.json && form->libbpf)
		options__exclude(options, "json", "libbpf");
	check_files(options, command);
	if (command->trace.interval_ns && output_files__any(&command->trace.outputs))
		options__error(options, "--interval prints text: it and --flamegraph, --pprof and "
					"--speedscope exclude each other");
}

static void set_duration(const struct option_value *value, void *values)
{
	struct offcputime_command *command = values;
	uint64_t *ns = &command->trace.duration_ns;

	if (*ns)
		option_value__error(value, "there is a DURATION already; COMMAND stands behind --");
	if (units__parse_time(value->text, NSEC_PER_SEC, ns) || !*ns)
		option_value__error(value, "neither a DURATION in seconds, nor behind --, where "
					   "COMMAND stands");
}

static const struct option_table thread_table = {
	.group = 1,
	OPTION_ROWS(thread_rows),
	.check = check_threads,
	.argument = set_duration,
};
static const struct option_table block_table = {
	.title = "Which blocks count:",
	.group = 2,
	OPTION_ROWS(block_rows),
	.check = check_blocks,
};
static const struct option_table stack_table_of_bcc = {
	.group = 3,
	OPTION_ROWS(stack_rows),
	.check = check_stacks,
};
static const struct option_table output_table = {
	.title = "Output:",
	.group = 4,
	OPTION_ROWS(output_rows),
	.check = check_output,
};

static const struct option_table log_table = {
	.group = 4,
	OPTION_ROWS(log_rows),
	.check = common_options__check,
};

static int parse(int argc, char **argv, struct offcputime_command *command)
{
	static const struct option_letter letters[] = { { "mmap-pages", 0 }, { NULL, 0 } };
	const struct option_use uses[] = {
		{ &thread_table, command },
		{ &target_table, &command->target },
		{ &block_table, command },
		{ &walk_table, &command->trace.session.capture.stacks },
		{ &stack_table_of_bcc, command },
		{ &output_table, command },
		{ &symbol_table, &command->trace.symbols },
		{ &output_files_table, &command->trace.outputs },
		{ &ring_table, &command->common },
		{ &log_table, &command->common },
		{ &help_table, NULL },
	};
	const struct option_command options = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.letters = letters,
		.arguments = "[DURATION] [-- COMMAND [ARG...]]",
		.doc = "Sum up where threads lose time off the CPU, by stack, as bcc's offcputime "
		       "does.\v"
		       "`man denet-offcputime` has the details. Examples:\n"
		       "  denet-offcputime 5\n"
		       "  denet-offcputime -p $(pgrep -d, mysqld) -m 1000 10\n"
		       "  denet-offcputime --flamegraph app.html -- ./app",
	};

	return options__parse(&options, argc, argv);
}

/* "PID 42", "PIDs 42,43". Returns the text, NULL: no memory. */
static char *list_ids(const char *what, const struct id_list *ids)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s%s", what, ids->nr > 1 ? "s" : "");
	for (size_t i = 0; i < ids->nr; i++)
		fprintf(out, "%c%d", i ? ',' : ' ', (int)ids->ids[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The traced threads, for the first line. */
static char *name_threads(const struct offcputime_command *command)
{
	const struct target_options *target = &command->target;
	char *text = NULL;

	if (target->pids.nr)
		return list_ids("PID", &target->pids);
	if (target->tids.nr)
		return list_ids("TID", &target->tids);
	if (command->kernel_threads)
		return strdup("kernel threads");
	if (target->command && !command->trace.session.capture.targets.all)
		return asprintf(&text, "threads of %s", target->command[0]) < 0 ? NULL : text;
	if (target->groups)
		return asprintf(&text, "threads in %s", target->groups) < 0 ? NULL : text;
	return strdup(command->user_threads ? "user threads" : "all threads");
}

/* Resolves names and completes the options. 0 or a negative errno (logged). */
static int resolve(struct offcputime_command *command)
{
	struct session_options *session = &command->trace.session;
	struct capture_targets *targets = &command->target.capture;
	int err;

	targets->kernel_threads = !command->user_threads;
	targets->no_user_threads = command->kernel_threads;
	targets->all |= command->kernel_threads;
	targets->no_inherit =
		(command->target.pids.nr || command->target.tids.nr) && !targets->children;
	session->capture.stacks.user &= !command->kernel_stacks;
	session->capture.stacks.kernel &= !command->user_stacks;
	command->trace.form.no_kernel = command->user_stacks;
	command->trace.form.no_user = command->kernel_stacks;
	session->capture.ring_pages = command->common.ring_pages;
	session->noun = "trace";
	session->done = "traced";
	session->quiet = command->common.quiet;
	session->stdout_to_stderr = true;
	session->patience = 1;
	command->trace.form.addresses = command->common.verbose != 0;
	command->trace.output = command->output ? command->output : "-";
	command->trace.text = command->output || command->trace.outputs.json ||
			      command->trace.form.folded || command->trace.form.libbpf;
	err = target_options__resolve(&command->target, session);
	if (err)
		return err;
	command->trace.threads = command->threads = name_threads(command);
	return command->threads ? 0 : -ENOMEM;
}

int cmd_offcputime(int argc, char **argv)
{
	struct offcputime_command command = { 0 };
	int status = EXIT_STATUS_ERROR, err;

	capture_options__init(&command.trace.session.capture);
	command.trace.session.capture.filter.states = capture__all_states();
	log__init("denet-offcputime", LOG_INFO);
	err = parse(argc, argv, &command);
	log__init("denet-offcputime", common_options__log_level(&command.common));
	if (!err)
		err = resolve(&command);
	if (!err)
		err = offcputime__run(&command.trace, &status);
	target_options__free(&command.target);
	free(command.threads);
	return err ? EXIT_STATUS_ERROR : status;
}
