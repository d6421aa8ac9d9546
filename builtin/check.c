/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-check: shows which parts work on this machine. The checks are in util/check/. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "builtin.h"
#include "builtin/terminal.h"
#include "builtin/options/common.h"
#include "builtin/options/values.h"
#include "check/check.h"

struct check_options {
	bool json;
	int verbose;
};

static const struct option_row rows[] = {
	{ "json", .text = "Print JSON; errors as well", OPTION_TRUE(struct check_options, json) },
	{ "verbose", 'v', .text = "Print the kernel's log of each BPF program, on stderr",
	  OPTION_COUNT(struct check_options, verbose) },
};

static const struct option_table check_table = { .group = 1, OPTION_ROWS(rows) };

/* --json counts wherever it stands, since usage errors are printed as JSON, too. */
static bool asks_for_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			return true;
	}
	return false;
}

static int parse(int argc, char **argv, struct check_options *options)
{
	const struct option_use uses[] = {
		{ &check_table, options },
		{ &help_table, NULL },
	};
	const struct option_command command = {
		.uses = uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.silent = asks_for_json(argc, argv),
		.doc = "Check what this machine offers to a recording, and tell the remedy where "
		       "something is missing.\v"
		       "The exit status is 0 if recording works, 1 if it does not, 2 after a usage "
		       "error.\n"
		       "`man denet-check` tells more.",
	};
	int err = options__parse(&command, argc, argv);

	if (err && command.silent)
		check__print_json_error("usage: denet-check [--json] [-v]", stdout);
	return err;
}

int cmd_check(int argc, char **argv)
{
	struct check_options options = { 0 };
	struct check check;
	int err, status;

	if (parse(argc, argv, &options))
		return EXIT_STATUS_USAGE;
	log__init("denet-check", options.verbose ? LOG_DEBUG : LOG_WARNING);
	err = check__run(&check);
	status = check.works && !err ? EXIT_STATUS_OK : EXIT_STATUS_ERROR;
	if (err && options.json)
		err = check__print_json_error(strerror(-err), stdout);
	else if (options.json)
		err = check__print_json(&check, stdout);
	else if (!err)
		err = check__print_table(&check, stdout, terminal__wants_colours());
	if (err) {
		pr_err("cannot print the table: %s", strerror(-err));
		status = EXIT_STATUS_ERROR;
	}
	check__free(&check);
	return status;
}
