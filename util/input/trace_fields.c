/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/trace_fields.h"
#include "input/rest.h"

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

/* A format of ours has a tenth of it. */
#define MAX_FORMAT 65536
#define MAX_EVENTS 64
/* As output/perfdata/tracing.c has it; files carry it. */
#define CONFIG_WAITS 60002

struct trace_fields {
	struct tep_handle *tep;
	struct tep_event *waits;
};

/* A text that must be exactly this one, with its NUL. */
static int expect(struct rest *rest, const char *text)
{
	const void *at = rest__take(rest, strlen(text) + 1);

	return at && !memcmp(at, text, strlen(text) + 1) ? 0 : -EINVAL;
}

/* A NUL-terminated name and a text of a size, as "header_page" has. */
static int skip_text(struct rest *rest, const char *name)
{
	uint64_t size;

	if (expect(rest, name) || rest__copy(rest, &size, sizeof(size)))
		return -EINVAL;
	return rest__take(rest, size) ? 0 : -EINVAL;
}

/* Everything up to the formats of events; Documentation/format.txt tells the order. */
static int skip_head(struct rest *rest)
{
	static const char magic[10] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const void *at = rest__take(rest, sizeof(magic));
	uint32_t nr_ftrace;

	if (!at || memcmp(at, magic, sizeof(magic)) || expect(rest, "0.6"))
		return -EINVAL;
	/* Byte order, size of a long, size of a page. */
	if (!rest__take(rest, 1 + 1 + sizeof(uint32_t)) || skip_text(rest, "header_page") ||
	    skip_text(rest, "header_event") || rest__copy(rest, &nr_ftrace, sizeof(nr_ftrace)))
		return -EINVAL;
	return nr_ftrace ? -EINVAL : 0;
}

/*
 * Whether a format is one that a kernel could print: a name, a number, and fields of plain types.
 * libtraceevent parses what a kernel prints; other text can crash it (1.7.1).
 */
static bool is_plain(const char *text)
{
	static const char format[] =
		"^name: [a-z_]{1,64}\nID: [0-9]{1,9}\nformat:\n"
		"(\tfield:([a-z][a-z0-9_]* )+[a-z][a-z0-9_]*(\\[[1-9][0-9]{0,8}\\])?;"
		"\toffset:[0-9]{1,9};\tsize:[0-9]{1,9};\tsigned:[01];\n+)*$";
	regex_t regex;
	bool plain;

	if (regcomp(&regex, format, REG_EXTENDED | REG_NOSUB))
		return false;
	plain = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return plain;
}

/*
 * The fields only: how an event reads in words is an expression of C, which is of no use here and
 * needs most of the parser.
 */
static char *copy_fields(const char *format, size_t size)
{
	static const char print[] = "\nprint fmt:";
	const char *end = memmem(format, size, print, sizeof(print) - 1);

	if (!end || memchr(format, '\0', (size_t)(end - format)))
		return NULL;
	return strndup(format, (size_t)(end - format) + 1);
}

static int parse_fields(struct trace_fields *fields, const char *plain)
{
	enum tep_errno err;
	char *text;

	if (asprintf(&text, "%sprint fmt: \"\"\n", plain) < 0)
		return -ENOMEM;
	err = tep_parse_event(fields->tep, text, strlen(text), "denet");
	free(text);
	return err ? -EINVAL : 0;
}

static int parse_format(struct trace_fields *fields, const char *format, size_t size)
{
	char *text = copy_fields(format, size);
	int err = text && is_plain(text) ? parse_fields(fields, text) : -EINVAL;

	free(text);
	return err;
}

/* Ours come first; those of the kernel are not looked at. */
static int parse_events(struct trace_fields *fields, struct rest *rest)
{
	uint32_t nr_systems, nr;
	uint64_t size;
	int err = 0;

	if (rest__copy(rest, &nr_systems, sizeof(nr_systems)) || !nr_systems ||
	    expect(rest, "denet") || rest__copy(rest, &nr, sizeof(nr)) || nr > MAX_EVENTS)
		return -EINVAL;
	for (uint32_t i = 0; i < nr && !err; i++) {
		const char *format;

		if (rest__copy(rest, &size, sizeof(size)) || size > MAX_FORMAT)
			return -EINVAL;
		format = rest__take(rest, size);
		err = format ? parse_format(fields, format, size) : -EINVAL;
	}
	return err;
}

struct trace_fields *trace_fields__new(const void *data, size_t size, int *err)
{
	struct trace_fields *fields = calloc(1, sizeof(*fields));
	struct rest rest = { data, size };

	*err = -ENOMEM;
	if (!fields)
		return NULL;
	/* It would print its opinion of broken formats. */
	tep_set_loglevel(TEP_LOG_NONE);
	fields->tep = tep_alloc();
	if (fields->tep) {
		*err = skip_head(&rest);
		if (!*err)
			*err = parse_events(fields, &rest);
	}
	if (*err) {
		trace_fields__delete(fields);
		return NULL;
	}
	fields->waits = tep_find_event(fields->tep, CONFIG_WAITS);
	return fields;
}

void trace_fields__delete(struct trace_fields *fields)
{
	if (!fields)
		return;
	tep_free(fields->tep);
	free(fields);
}

/* The raw data of a sample, and whether all fields read so far lay in it. */
struct raw {
	const struct tep_event *event;
	const char *data;
	size_t size;
	int err;
};

/* Where a field lies; NULL: the event has none of that name, or it lies outside. */
static const char *find(struct raw *raw, const char *name, size_t *size)
{
	const struct tep_format_field *field =
		tep_find_field((struct tep_event *)(uintptr_t)raw->event, name);

	if (!field)
		return NULL;
	if (field->offset < 0 || field->size < 0 || (size_t)field->offset > raw->size ||
	    (size_t)field->size > raw->size - (size_t)field->offset) {
		raw->err = -EINVAL;
		return NULL;
	}
	*size = (size_t)field->size;
	return raw->data + field->offset;
}

/* A number that has as many bytes here as in the file. */
static void get(struct raw *raw, const char *name, void *value, size_t size)
{
	size_t have;
	const char *at = find(raw, name, &have);

	if (at && have == size)
		memcpy(value, at, size);
	else if (at)
		raw->err = -EINVAL;
}

static void get_text(struct raw *raw, const char *name, char *text, size_t size)
{
	size_t have;
	const char *at = find(raw, name, &have);

	if (at)
		snprintf(text, size, "%.*s", (int)have, at);
}

static void get_device(struct raw *raw, struct reason *reason)
{
	char device[16] = "";

	get_text(raw, "device", device, sizeof(device));
	if (sscanf(device, "%u:%u", &reason->major, &reason->minor) != 2)
		reason->major = reason->minor = 0;
}

static void get_args(struct raw *raw, struct reason *reason)
{
	char name[] = "arg0";

	for (size_t i = 0; i < sizeof(reason->args) / sizeof(reason->args[0]); i++) {
		name[3] = (char)('0' + i);
		get(raw, name, &reason->args[i], sizeof(reason->args[i]));
	}
}

static void get_reason(struct raw *raw, struct reason *reason)
{
	char kind[16] = "";
	uint64_t futex = 0;

	get(raw, "nr", &reason->nr, sizeof(reason->nr));
	get_args(raw, reason);
	get(raw, "futex", &futex, sizeof(futex));
	reason->futex = futex != 0;
	get(raw, "inode", &reason->ino, sizeof(reason->ino));
	get_text(raw, "kind", kind, sizeof(kind));
	reason->fault = !strcmp(kind, "page-fault");
	get_device(raw, reason);
	get_text(raw, "path", reason->path, sizeof(reason->path));
	get_text(raw, "local", reason->local, sizeof(reason->local));
	get_text(raw, "remote", reason->remote, sizeof(reason->remote));
	get(raw, "owner", &reason->owner, sizeof(reason->owner));
	get(raw, "ready", &reason->ready_fd, sizeof(reason->ready_fd));
	get_text(raw, "owner_comm", reason->owner_comm, sizeof(reason->owner_comm));
	get_text(raw, "object", reason->futex_at, sizeof(reason->futex_at));
	get_text(raw, "peer", reason->ready_remote, sizeof(reason->ready_remote));
	get_text(raw, "title", reason->title, sizeof(reason->title));
}

int trace_fields__wait(const struct trace_fields *fields, const void *data, size_t size,
		       struct trace_wait *wait)
{
	struct raw raw = { .data = data, .size = size };

	if (!fields || !fields->waits)
		return -ENOENT;
	raw.event = fields->waits;
	*wait = (struct trace_wait){ .reason = { .nr = -1, .fd = -1, .ready_fd = -1 } };
	get(&raw, "ns", &wait->ns, sizeof(wait->ns));
	get_text(&raw, "name", wait->call, sizeof(wait->call));
	get_text(&raw, "text", wait->text, sizeof(wait->text));
	get_reason(&raw, &wait->reason);
	wait->reason.call = wait->call;
	return raw.err;
}
