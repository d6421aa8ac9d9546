/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-stat: what threads did besides running. The work is done in util/stat/. */
#include "stat/stat.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "builtin/options/common.h"
#include "builtin/options/table.h"
#include "builtin/options/target.h"
#include "builtin/options/values.h"
#include "builtin/terminal.h"
#include "stat/stat_data.h"

#define DEFAULT_TOP 10
#define MAX_TOP 1000000

/* The values of its options. */
struct stat_command {
	struct stat_options stat;
	struct target_options target;
	struct common_options common;
	bool calls, counts, locks, block, net, all_parts;
	const char *output; /* NULL: standard output */
};

static void set_top(const struct option_value *value, void *field)
{
	unsigned int *top = field;

	*top = (unsigned int)option_value__number(value, MAX_TOP);
}

static const struct option_row part_rows[] = {
	{ "syscalls", .text = "Count system calls, with their times and errors",
	  OPTION_TRUE(struct stat_command, calls) },
	{ "syscall-counts", .text = "Count system calls without their times, at less cost",
	  OPTION_TRUE(struct stat_command, counts) },
	{ "locks", .text = "Count waits for futexes, by address",
	  OPTION_TRUE(struct stat_command, locks) },
	{ "block", .text = "Count requests of block devices, by operation",
	  OPTION_TRUE(struct stat_command, block) },
	{ "net", .text = "Count waits for sockets, by connection",
	  OPTION_TRUE(struct stat_command, net) },
	{ "all", .text = "Count all of these", OPTION_TRUE(struct stat_command, all_parts) },
};

static const struct option_row output_rows[] = {
	{ "output", 'o', .arg = "FILE", .text = "Print into FILE, which is there once it is whole",
	  OPTION_TEXT(struct stat_command, output) },
	{ "interval-print", 'I', .arg = "MS",
	  .text = "Print what came since the last time, every MS",
	  OPTION_INTERVAL(struct stat_command, stat.interval_ns) },
	{ "json",
	  .text = "Print lines of JSON that denet's readers take, each second or as -I says",
	  OPTION_TRUE(struct stat_command, stat.json) },
	{ "exclude-children", .text = "With --json: lines of the first process alone",
	  OPTION_TRUE(struct stat_command, stat.alone) },
	{ "write-env", .text = "With --json: print a line on the machine first",
	  OPTION_TRUE(struct stat_command, stat.env) },
	{ "top", .arg = "N", .text = "Print N rows of each part (default 10)",
	  OPTION_FIELD(set_top, unsigned int, struct stat_command, stat.form.top) },
};

/* As target_options__resolve() decides: options that narrow the targets apply to all processes. */
static bool has_first_process(const struct target_options *target)
{
	if (target->pids.nr || target->tids.nr)
		return true;
	return target->command && !target->capture.all && !target->users && !target->groups &&
	       !target->cpus.any;
}

static void check_output(const struct options *options, const void *values)
{
	const struct stat_command *command = values;

	if (!command->stat.json && (command->stat.alone || command->stat.env))
		options__error(options, "%s needs --json, whose lines it changes",
			       command->stat.alone ? "--exclude-children" : "--write-env");
	if (command->stat.alone && !has_first_process(&command->target))
		options__error(options, "--exclude-children needs -p, -t or a COMMAND, and no "
					"option that counts all processes");
}

static const struct option_table part_table = {
	.title = "What is counted besides time:",
	.group = 2,
	OPTION_ROWS(part_rows),
};
static const struct option_table output_table = {
	.title = "Output:",
	.group = 4,
	OPTION_ROWS(output_rows),
	.check = check_output,
};

static int parse(int argc, char **argv, struct stat_command *command)
{
	const struct option_use uses[] = {
		{ &target_table, &command->target },
		{ &target_detail_table, &command->target },
		{ &part_table, command },
		{ &output_table, command },
		{ &result_table, &command->common },
		{ &help_table, NULL },
	};
	const struct option_command options = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.arguments = "[-- COMMAND [ARG...]]",
		.doc = "Count what threads do besides running: time off the CPU and waiting for a "
		       "CPU, system calls.\v"
		       "`man denet-stat` has the details. Examples:\n"
		       "  denet-stat -- make\n"
		       "  denet-stat --syscalls -p 4711 -- sleep 10",
	};

	return options__parse(&options, argc, argv);
}

/* Resolves names and completes the options. 0 or a negative errno (logged). */
static int resolve(struct stat_command *command)
{
	struct stat_options *stat = &command->stat;

	stat->parts = STAT_PART_OFFCPU;
	if (command->counts)
		stat->parts |= STAT_PART_CALLS;
	if (command->calls || command->all_parts)
		stat->parts |= STAT_PART_CALLS | STAT_PART_CALL_TIMES;
	if (command->locks || command->all_parts)
		stat->parts |= STAT_PART_LOCKS;
	if (command->block || command->all_parts)
		stat->parts |= STAT_PART_IO;
	if (command->net || command->all_parts)
		stat->parts |= STAT_PART_SOCKETS;
	if (stat->json && !stat->interval_ns)
		stat->interval_ns = NSEC_PER_SEC;
	stat->output = command->output ? command->output : "-";
	if (!strcmp(stat->output, "-")) {
		stat->form.table.colours = terminal__wants_colours();
		stat->form.table.width = terminal__width();
	}
	stat->session.noun = "measurement";
	stat->session.done = "measured";
	stat->session.quiet = command->common.quiet;
	stat->session.stdout_to_stderr = true;
	stat->session.patience = 1;
	return target_options__resolve(&command->target, &stat->session);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_command command = { .stat.form.top = DEFAULT_TOP };
	int status = EXIT_STATUS_ERROR, err;

	capture_options__init(&command.stat.session.capture);
	log__init("denet-stat", LOG_INFO);
	err = parse(argc, argv, &command);
	log__init("denet-stat", common_options__log_level(&command.common));
	if (!err)
		err = resolve(&command);
	if (!err)
		err = stat__run(&command.stat, &status);
	target_options__free(&command.target);
	return err ? EXIT_STATUS_ERROR : status;
}
