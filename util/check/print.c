/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows, as a table and as JSON. */
#include "check/check.h"

#include <string.h>

#include "base/out_stream.h"

static const struct {
	const char *word;   /* in JSON */
	const char *mark;   /* in the table, four columns */
	const char *colour;
} looks[] = {
	[CHECK_OK] = { "ok", "ok  ", "\033[32m" },
	[CHECK_INFO] = { "info", "    ", "" },
	[CHECK_WARNING] = { "warning", "warn", "\033[33m" },
	[CHECK_BAD] = { "bad", "BAD ", "\033[31m" },
};

/* Escapes values: they come from the kernel and from paths, and must not steer the terminal. */
static void put_plain(const char *text, FILE *out)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			fprintf(out, "\\x%02x", *p);
		else
			fputc(*p, out);
	}
}

static void print_row(const struct check_row *row, FILE *out, bool colours)
{
	const char *colour = colours ? looks[row->status].colour : "";

	fprintf(out, "  %s%s%s  %-36s ", colour, looks[row->status].mark, *colour ? "\033[0m" : "",
		row->name);
	put_plain(row->value, out);
	fputc('\n', out);
	if (!row->remedy[0])
		return;
	fprintf(out, "        -> ");
	put_plain(row->remedy, out);
	fputc('\n', out);
}

int check__print_table(const struct check *check, FILE *out, bool colours)
{
	const char *group = "";

	for (size_t i = 0; i < check->nr; i++) {
		if (strcmp(group, check->rows[i].group)) {
			group = check->rows[i].group;
			fprintf(out, "%s%s\n", i ? "\n" : "", group);
		}
		print_row(&check->rows[i], out, colours);
	}
	if (check->works)
		fprintf(out, "\nrecording works here: %s\n", check->hook);
	else
		fprintf(out, "\nrecording does not work here: see what is BAD above\n");
	return out_stream__flush(out);
}

/* A JSON string. Bytes that are no UTF-8 become U+FFFD, since JSON cannot hold them. */
static void put_json(const char *text, FILE *out)
{
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', out);
	while (*p) {
		size_t len = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2, n = 1;

		while (n < len && (p[n] & 0xc0) == 0x80)
			n++;
		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p < 0x20)
			fprintf(out, "\\u%04x", *p);
		else if (n < len || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
			fputs("\\ufffd", out);
		else
			fwrite(p, 1, len, out);
		p += n;
	}
	fputc('"', out);
}

static void print_json_row(const struct check_row *row, FILE *out)
{
	fputs("{\"group\": ", out);
	put_json(row->group, out);
	fputs(", \"name\": ", out);
	put_json(row->name, out);
	fprintf(out, ", \"status\": \"%s\", \"value\": ", looks[row->status].word);
	put_json(row->value, out);
	if (row->remedy[0]) {
		fputs(", \"remedy\": ", out);
		put_json(row->remedy, out);
	}
	fputc('}', out);
}

int check__print_json(const struct check *check, FILE *out)
{
	fprintf(out, "{\"works\": %s, \"way\": ", check->works ? "true" : "false");
	if (check->works)
		put_json(check->hook, out);
	else
		fputs("null", out);
	fputs(", \"checks\": [", out);
	for (size_t i = 0; i < check->nr; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		print_json_row(&check->rows[i], out);
	}
	fputs("\n]}\n", out);
	return out_stream__flush(out);
}

int check__print_json_error(const char *text, FILE *out)
{
	fputs("{\"error\": ", out);
	put_json(text, out);
	fputs("}\n", out);
	return out_stream__flush(out);
}
