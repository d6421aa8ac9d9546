/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of options, for argp: each is a child of the command's parser. */
#include "builtin/options/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "builtin/builtin.h"

/* First key of options without a letter; the number of their row is added. */
#define FIRST_KEY 0x100

/* One table of the command, as argp sees it. */
struct option_parser {
	struct options *options;
	const struct option_use *use;
	struct argp_option *rows; /* the title, those of the table, and an empty one */
	struct argp argp;
};

struct options {
	const struct option_command *command;
	struct argp_state *state; /* during the check */
	struct option_parser *parsers;
	struct argp_child *children;
	const char *of_samples;
};

static char letter_of(const struct option_command *command, const struct option_row *row)
{
	const struct option_letter *letter = command->letters;

	while (row->name && letter && letter->name) {
		if (!strcmp(letter->name, row->name))
			return letter->letter;
		letter++;
	}
	return row->letter;
}

/* The option as the user types it: "-p", or "--pid". The name lies in buf. */
static const char *name_of(const struct option_command *command, const struct option_row *row,
			   char *buf, size_t size)
{
	char letter = letter_of(command, row);

	if (letter)
		snprintf(buf, size, "-%c", letter);
	else
		snprintf(buf, size, "--%s", row->name);
	return buf;
}

static const struct option_row *find_row(const struct option_command *command, const char *name)
{
	for (size_t i = 0; i < command->nr_uses; i++) {
		const struct option_table *table = command->uses[i].table;

		for (size_t j = 0; j < table->nr_rows; j++) {
			if (table->rows[j].name && !strcmp(table->rows[j].name, name))
				return &table->rows[j];
		}
	}
	return NULL;
}

void options__error(const struct options *options, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	argp_error(options->state, "%s", text);
	exit(EXIT_STATUS_USAGE);
}

void options__exclude(const struct options *options, const char *a, const char *b)
{
	const struct option_command *command = options->command;
	char first[64], second[64];

	options__error(options, "%s and %s exclude each other",
		       name_of(command, find_row(command, a), first, sizeof(first)),
		       name_of(command, find_row(command, b), second, sizeof(second)));
}

const char *options__of_samples(const struct options *options)
{
	return options->of_samples;
}

void option_value__error(const struct option_value *value, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	argp_error(value->state, "%s%s%s: %s", value->name, value->text ? " " : "",
		   value->text ? value->text : "", text);
	exit(EXIT_STATUS_USAGE);
}

static int key_of(const struct option_command *command, const struct option_table *table, size_t i)
{
	char letter = letter_of(command, &table->rows[i]);

	return letter ? letter : FIRST_KEY + (int)i;
}

static error_t set_row(struct option_parser *parser, const struct option_row *row, char *text,
		       struct argp_state *state)
{
	struct options *options = parser->options;
	char name[64];
	const struct option_value value = {
		.state = state,
		.name = name_of(options->command, row, name, sizeof(name)),
		.text = text,
	};

	/* In `-G -- sleep 5` getopt takes the end of the options, "--", for a value. */
	if (text && !strcmp(text, "--"))
		argp_error(state, "%s: the value is missing; -- was taken for it", name);
	if (row->of_samples && !options->of_samples)
		options->of_samples = row->name;
	row->set(&value, (char *)parser->use->values + row->offset);
	return 0;
}

static void take_argument(const struct option_parser *parser, struct argp_state *state)
{
	const struct option_value value = {
		.state = state,
		.name = "argument",
		.text = state->argv[state->next - 1],
	};

	parser->use->table->argument(&value, parser->use->values);
}

static bool is_behind_dashes(const struct argp_state *state)
{
	return state->quoted && state->next > state->quoted;
}

static error_t parse_table(int key, char *text, struct argp_state *state)
{
	struct option_parser *parser = state->input;
	const struct option_table *table = parser->use->table;

	if (key == ARGP_KEY_ARG && table->argument && !is_behind_dashes(state)) {
		take_argument(parser, state);
		return 0;
	}
	if (key == ARGP_KEY_ARG && table->arguments) {
		table->arguments(parser->use->values, &state->argv[state->next - 1]);
		state->next = state->argc;
		return 0;
	}
	if (key == ARGP_KEY_END && table->check) {
		parser->options->state = state;
		table->check(parser->options, parser->use->values);
		return 0;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (key == key_of(parser->options->command, table, i))
			return set_row(parser, &table->rows[i], text, state);
	}
	return ARGP_ERR_UNKNOWN;
}

/* The command's own parser has no options: its children have them. */
static error_t parse_command(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		for (size_t i = 0; i < options->command->nr_uses; i++)
			state->child_inputs[i] = &options->parsers[i];
		return 0;
	case ARGP_KEY_ARG:
		if (options->command->arguments)
			return ARGP_ERR_UNKNOWN;
		argp_error(state, "%s: there are no arguments", text);
		return EINVAL;
	case ARGP_KEY_END:
		options->state = state;
		if (options->command->check)
			options->command->check(options, options->command->ctx);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void make_rows(struct option_parser *parser)
{
	const struct option_table *table = parser->use->table;
	struct argp_option *out = parser->rows;

	if (table->title)
		*out++ = (struct argp_option){ .doc = table->title, .group = table->group };
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct option_row *row = &table->rows[i];

		*out++ = (struct argp_option){
			.name = row->name,
			.key = key_of(parser->options->command, table, i),
			.arg = row->arg,
			.flags = (row->hidden ? OPTION_HIDDEN : 0) |
				 (row->optional_arg ? OPTION_ARG_OPTIONAL : 0),
			.doc = row->text,
			.group = table->group,
		};
	}
}

/* The parser of a table; its rows are zeroed, so that they end with an empty one. */
static int option_parser__init(struct option_parser *parser, struct options *options,
			       const struct option_use *use)
{
	parser->options = options;
	parser->use = use;
	parser->rows = calloc(use->table->nr_rows + 2, sizeof(*parser->rows));
	if (!parser->rows)
		return -ENOMEM;
	make_rows(parser);
	parser->argp = (struct argp){ .options = parser->rows, .parser = parse_table };
	return 0;
}

static void options__free(struct options *options)
{
	for (size_t i = 0; options->parsers && i < options->command->nr_uses; i++)
		free(options->parsers[i].rows);
	free(options->parsers);
	free(options->children);
}

static int options__init(struct options *options, const struct option_command *command)
{
	int err = 0;

	*options = (struct options){
		.command = command,
		.parsers = calloc(command->nr_uses, sizeof(*options->parsers)),
		.children = calloc(command->nr_uses + 1, sizeof(*options->children)),
	};
	if (!options->parsers || !options->children)
		return -ENOMEM;
	for (size_t i = 0; i < command->nr_uses && !err; i++) {
		err = option_parser__init(&options->parsers[i], options, &command->uses[i]);
		options->children[i].argp = &options->parsers[i].argp;
	}
	return err;
}

int options__parse(const struct option_command *command, int argc, char **argv)
{
	struct options options;
	struct argp argp = {
		.parser = parse_command,
		.args_doc = command->arguments,
		.doc = command->doc,
	};
	const char *clash = option_command__clash(command);
	unsigned int flags = ARGP_IN_ORDER | ARGP_NO_HELP;
	int err;

	if (command->silent)
		flags |= ARGP_NO_ERRS | ARGP_NO_EXIT;
	if (clash) {
		pr_err("the option --%s is defined twice: this is a bug", clash);
		return -EINVAL;
	}
	err = options__init(&options, command);
	argp.children = options.children;
	argp_err_exit_status = EXIT_STATUS_USAGE;
	if (!err)
		err = -argp_parse(&argp, argc, argv, flags, NULL, &options);
	options__free(&options);
	return err;
}

static bool same(const struct option_command *command, const struct option_row *a,
		 const struct option_row *b)
{
	char letter = letter_of(command, a);

	return (letter && letter == letter_of(command, b)) ||
	       (a->name && b->name && !strcmp(a->name, b->name));
}

/* True if an earlier row, or a row of an earlier table, has the letter or the name of row nr. */
static bool is_taken(const struct option_command *command, size_t table, size_t nr)
{
	const struct option_row *row = &command->uses[table].table->rows[nr];

	for (size_t i = 0; i <= table; i++) {
		const struct option_table *other = command->uses[i].table;
		size_t end = i < table ? other->nr_rows : nr;

		for (size_t j = 0; j < end; j++) {
			if (same(command, row, &other->rows[j]))
				return true;
		}
	}
	return false;
}

const char *option_command__clash(const struct option_command *command)
{
	for (size_t i = 0; i < command->nr_uses; i++) {
		const struct option_table *table = command->uses[i].table;

		for (size_t j = 0; j < table->nr_rows; j++) {
			if (is_taken(command, i, j))
				return table->rows[j].name ? table->rows[j].name : table->title;
		}
	}
	for (const struct option_letter *l = command->letters; l && l->name; l++) {
		if (!find_row(command, l->name))
			return l->name;
	}
	return NULL;
}
