/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Longer texts, escaped, take memory. */
#define SHORT_TEXT 4096

int csv_text__add(struct buffer *line, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return buffer__append(line, text, strlen(text));
}

int csv_text__add_quoted(struct buffer *line, const char *text)
{
	size_t size = strlen(text) * strlen("\\x0a") + 1;
	char near[SHORT_TEXT], *escaped = size <= sizeof(near) ? near : malloc(size);
	int err = escaped ? buffer__append(line, "'", 1) : -ENOMEM;

	if (!err)
		log__escape(escaped, size, text);
	for (const char *at = escaped; !err && *at; at++)
		err = *at == '\'' ? buffer__append(line, "''", 2) : buffer__append(line, at, 1);
	if (escaped != near)
		free(escaped);
	return err ? err : buffer__append(line, "'", 1);
}

static bool needs_quotes(const char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~' || strchr(",'\"", *text))
			return true;
	}
	return false;
}

int csv_text__add_sparing(struct buffer *line, const char *text)
{
	return needs_quotes(text) ? csv_text__add_quoted(line, text)
				  : buffer__append(line, text, strlen(text));
}

/* Takes the quotes off a text, whose first one *at points to, and moves *at behind it. */
static char *unquote(char **at)
{
	char *text = *at, *to = *at, *from = *at + 1;

	for (; *from; from++) {
		if (*from == '\'' && from[1] == '\'')
			from++;
		else if (*from == '\'' && (from[1] == ',' || !from[1]))
			break;
		*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return text;
}

static char *next_field(char **at)
{
	char *field = *at;

	if (**at == '\'')
		return unquote(at);
	*at += strcspn(*at, ",");
	return field;
}

size_t csv_text__split(char *line, char **fields, size_t max)
{
	char *at = line, *field, end;
	size_t nr = 0;

	for (;;) {
		field = next_field(&at);
		if (nr < max)
			fields[nr] = field;
		nr++;
		end = *at;
		*at++ = '\0';
		if (end != ',')
			return nr;
	}
}

int csv_text__find(char *const *fields, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(fields[i], text))
			return (int)i;
	}
	return -1;
}

int csv_text__end(struct buffer *line, int err, FILE *out)
{
	if (!err)
		err = buffer__append(line, "\n", 1);
	if (!err)
		fwrite(line->data, 1, line->len, out);
	buffer__free(line);
	return err;
}
