/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that do not depend on a command's task. */
#include "builtin/options/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "builtin/builtin.h"
#include "builtin/options/values.h"
#include "capture/options.h"

static void set_ring_pages(const struct option_value *value, void *field)
{
	int err = capture_ring__parse(field, value->text, (size_t)sysconf(_SC_PAGESIZE));

	if (err == -ERANGE)
		option_value__error(value, "must be from 1 page to 1G");
	else if (err)
		option_value__error(value, "not a number of pages, nor a size such as 512K");
}

static const struct option_row ring_rows[] = {
	{ "mmap-pages", 'm', .of_samples = true, .arg = "PAGES",
	  .text = "Size of each CPU's ring, in pages or with B, K, M, G",
	  OPTION_FIELD(set_ring_pages, uint32_t, struct common_options, ring_pages) },
};

static const struct option_row common_rows[] = {
	{ "quiet", 'q', .text = "Print warnings and errors only",
	  OPTION_TRUE(struct common_options, quiet) },
	{ "verbose", 'v', .text = "Print all accounts at the end; twice: also debug messages",
	  OPTION_COUNT(struct common_options, verbose) },
};

static const struct option_row result_rows[] = {
	{ "quiet", 'q', .text = "Print warnings and errors only, besides the result",
	  OPTION_TRUE(struct common_options, quiet) },
	{ "verbose", 'v', .text = "Also print progress messages; twice: also debug messages",
	  OPTION_COUNT(struct common_options, verbose) },
};

void common_options__check(const struct options *options, const void *values)
{
	const struct common_options *common = values;

	if (common->quiet && common->verbose)
		options__exclude(options, "quiet", "verbose");
}

const struct option_table ring_table = { .group = 4, OPTION_ROWS(ring_rows) };

const struct option_table common_table = {
	.group = 4,
	OPTION_ROWS(common_rows),
	.check = common_options__check,
};

const struct option_table result_table = {
	.group = 4,
	OPTION_ROWS(result_rows),
	.check = common_options__check,
};

enum log_level common_options__log_level(const struct common_options *common)
{
	if (common->quiet)
		return LOG_WARNING;
	if (!common->verbose)
		return LOG_INFO;
	return common->verbose > 1 ? LOG_DEBUG : LOG_VERBOSE;
}

static void print_help(const struct option_value *value, void *field)
{
	(void)field;
	argp_state_help(value->state, stdout, ARGP_HELP_STD_HELP);
}

static void print_usage(const struct option_value *value, void *field)
{
	(void)field;
	argp_state_help(value->state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
}

static void print_version(const struct option_value *value, void *field)
{
	(void)field;
	printf("%s %s\n", value->state->name, DENET_VERSION);
	exit(EXIT_STATUS_OK);
}

static const struct option_row help_rows[] = {
	{ "help", 'h', .text = "Print this list", .set = print_help },
	{ "usage", .text = "Print a short usage message", .set = print_usage },
	{ "version", .text = "Print the version", .set = print_version },
};

const struct option_table help_table = {
	.group = -1,
	OPTION_ROWS(help_rows),
};
