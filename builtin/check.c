/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-check: what works on this machine. What it looks at is in util/check/. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "builtin.h"
#include "check/check.h"

enum check_key {
	KEY_JSON = 0x100,
	KEY_USAGE,
	KEY_VERSION,
};

struct check_options {
	bool json;
	int verbose;
};

static const struct argp_option option_table[] = {
	{ "json", KEY_JSON, NULL, 0, "Print JSON; errors as well", 1 },
	{ "verbose", 'v', NULL, 0, "Print what the kernel says of each program, on stderr", 1 },
	{ "help", 'h', NULL, 0, "Print this list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Print a short usage message", -1 },
	{ "version", KEY_VERSION, NULL, 0, "Print the version", -1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct check_options *options = state->input;

	switch (key) {
	case KEY_JSON:
		options->json = true;
		return 0;
	case 'v':
		options->verbose++;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case KEY_VERSION:
		printf("denet-check %s\n", DENET_VERSION);
		exit(EXIT_STATUS_OK);
	case ARGP_KEY_ARG:
		argp_error(state, "%s: there are no arguments", text);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.doc = "Tell what a recording has to work with on this machine, and what to do where "
	       "something is missing.\v"
	       "The exit status is 0 if recording works, 1 if it does not, 2 after a usage error.\n"
	       "`man denet-check` tells more.",
};

/* https://no-color.org: any value but the empty one. */
static bool wants_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

/* Whoever asked for JSON reads stdout, usage errors too: so it counts wherever it stands. */
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
	if (!asks_for_json(argc, argv))
		return argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, options);
	if (!argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_NO_EXIT, NULL,
			options))
		return 0;
	check__print_json_error("usage: denet-check [--json] [-v]", stdout);
	return -EINVAL;
}

int cmd_check(int argc, char **argv)
{
	struct check_options options = { 0 };
	struct check check;
	int err, status;

	argp_err_exit_status = EXIT_STATUS_USAGE;
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
		err = check__print_table(&check, stdout, wants_colours());
	if (err) {
		pr_err("cannot print the table: %s", strerror(-err));
		status = EXIT_STATUS_ERROR;
	}
	check__free(&check);
	return status;
}
