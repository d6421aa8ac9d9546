/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CHECK_H
#define DENET_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Results of checking this machine: which parts work, and how to make the others work. */

enum check_status {
	CHECK_OK,
	CHECK_INFO,    /* neither good nor bad by itself */
	CHECK_WARNING, /* a named part of a recording is missing */
	CHECK_BAD,     /* no recording */
};

struct check_row {
	const char *group; /* a literal; rows of one group follow each other */
	enum check_status status;
	char name[48];
	char value[320];
	char remedy[320]; /* command or action; empty: none */
};

struct check {
	struct check_row *rows;
	size_t nr;
	bool works;   /* a recording was made, for a moment */
	bool no_room; /* a row was lost for want of memory */
	char hook[64]; /* attach hook of that recording */
	char program[256]; /* path of this program, for the command that grants it capabilities */
};

/*
 * Checks the machine and this process's permissions, tries every hook and helper, and records for a
 * moment. Failures are in the rows. 0 or -ENOMEM.
 */
int check__run(struct check *check);
void check__free(struct check *check);

/* Adds a row; the caller formats value and remedy. NULL: no memory. */
struct check_row *check__add(struct check *check, const char *group, enum check_status status,
			     const char *name);

/* The parts of check__run(), in the order of the table. */
void check__machine(struct check *check);
void check__rights(struct check *check);
void check__limits(struct check *check);
void check__hooks(struct check *check);
void check__recording(struct check *check);

/* As a table, with colours or not; as JSON. 0, or a negative errno of the stream. */
int check__print_table(const struct check *check, FILE *out, bool colours);
int check__print_json(const struct check *check, FILE *out);

/* An error as JSON: {"error": "…"}. */
int check__print_json_error(const char *text, FILE *out);

#endif /* DENET_CHECK_H */
