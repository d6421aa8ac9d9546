/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_TEXT_H
#define DENET_TOP_CSV_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"

/*
 * Lines of CSV as xcapture writes them: single quotes around texts. A quote in a text is doubled,
 * and bytes that are no printable UTF-8 are written as \x0a: a line is a line, whatever is in a
 * name.
 */

/* Appends formatted text. 0 or -ENOMEM. */
int csv_text__add(struct buffer *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a text with quotes around it. 0 or -ENOMEM. */
int csv_text__add_quoted(struct buffer *line, const char *text);

/*
 * The same without quotes where a text has nothing but printable ASCII, and no comma or quote, as
 * xcapture writes stacks and cgroups.
 */
int csv_text__add_sparing(struct buffer *line, const char *text);

/*
 * Splits a line, without its newline, into fields, in place: at most max. Quotes are taken off; one
 * inside of a text ends it only if a comma or the end of the line follows, so that names which
 * others wrote as they are do no harm. Returns the number of fields that the line has.
 */
size_t csv_text__split(char *line, char **fields, size_t max);

/* The number of the field with that text; -1: there is none. */
int csv_text__find(char *const *fields, size_t nr, const char *text);

/* Writes the line with its newline, and frees it. err: of making it. 0, err or -ENOMEM. */
int csv_text__end(struct buffer *line, int err, FILE *out);

#endif /* DENET_TOP_CSV_TEXT_H */
