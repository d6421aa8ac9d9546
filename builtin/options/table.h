/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_TABLE_H
#define DENET_BUILTIN_OPTIONS_TABLE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Tables of options. A row of a table is an option: its names, its text in -h, the field that it
 * sets and the function that sets it. A table belongs to one struct, whose fields its rows set.
 * A command lists tables, its own and shared ones, with the structs that they fill in. Long names
 * are the same in all commands; a command may give a letter to another option, or drop it.
 */

/* The argument of a row's function. */
struct option_value {
	struct argp_state *state; /* for argp's functions */
	const char *name; /* "-p", or "--pid" where it has no letter; of an argument: its place */
	const char *text;	  /* NULL: the option stands alone */
};

/* Reads the text into the field. Ends the process with option_value__error() if it can't. */
typedef void (*option_set_fn)(const struct option_value *value, void *field);

struct option_row {
	const char *name; /* long; NULL: it has a letter only */
	char letter;	  /* 0: none */
	bool hidden;	  /* from -h */
	bool of_samples;  /* affects how samples are made or written: options__of_samples() */
	bool optional_arg; /* the value may be left out; its text is then NULL */
	const char *arg;  /* name of its value in -h; NULL: it takes none */
	const char *text; /* its text in -h */
	option_set_fn set;
	size_t offset; /* of the field; see OPTION_FIELD() */
};

/* Initializes set and offset of a row whose field has that type, as its function expects. */
#define OPTION_FIELD(fn, type, structure, field) \
	.set = (fn), \
	.offset = offsetof(structure, field) + \
		  0 * sizeof(char[OPTION_HAS_TYPE(structure, field, type) ? 1 : -1])
#define OPTION_HAS_TYPE(structure, field, type) \
	__builtin_types_compatible_p(__typeof__(((structure *)0)->field), type)

struct options;

struct option_table {
	const char *title; /* in -h, of the group; NULL: an earlier table has it */
	int group;	   /* tables of one group are listed together in -h */
	const struct option_row *rows;
	size_t nr_rows;
	/* Reports contradictory options of the table; NULL: there are none. */
	void (*check)(const struct options *options, const void *values);
	/* Takes an argument before "--" that is no option; NULL: not this table. */
	void (*argument)(const struct option_value *value, void *values);
	/* Takes the first argument that is no option, and all behind it; NULL: not this table. */
	void (*arguments)(void *values, char **argv);
};

#define OPTION_ROWS(array) .rows = (array), .nr_rows = sizeof(array) / sizeof((array)[0])

/* A table and the struct that it fills in. */
struct option_use {
	const struct option_table *table;
	void *values;
};

/* Gives the option of a long name another letter in this command, or none (0). */
struct option_letter {
	const char *name;
	char letter;
};

struct option_command {
	const struct option_use *uses;
	size_t nr_uses;
	const struct option_letter *letters; /* ends with a NULL name; NULL: those of the rows */
	const char *arguments; /* their name in -h; NULL: the command takes none */
	bool silent;	       /* usage errors are returned, not printed */
	const char *doc;       /* above and, behind \v, below the list of -h */
	/* Contradictions between options of several tables; NULL: there are none. */
	void (*check)(const struct options *options, const void *ctx);
	const void *ctx;
};

/*
 * Parses a command line. A usage error ends the process with status 2, and -h, --usage and
 * --version end it with 0. Texts of argv are borrowed by the structs. 0, -ENOMEM, -EINVAL (logged)
 * if options clash, or the error of argp, such as -EINVAL, for a usage error of a silent command.
 */
int options__parse(const struct option_command *command, int argc, char **argv);

/*
 * The name of an option whose letter or long name an earlier one in the tables has, or of an
 * override for a name that is in no table; NULL: there is none, as should be.
 */
const char *option_command__clash(const struct option_command *command);

/* The following are for check functions. */

/* Reports a usage error, points to the help, and exits. */
void options__error(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Reports that two options, given by their long names, exclude each other. */
void options__exclude(const struct options *options, const char *a, const char *b)
	__attribute__((noreturn));

/* The long name of the first option that was given and is of_samples; NULL: none was. */
const char *options__of_samples(const struct options *options);

/* For a row's function: a usage error that begins with the option and its value. */
void option_value__error(const struct option_value *value, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#endif /* DENET_BUILTIN_OPTIONS_TABLE_H */
