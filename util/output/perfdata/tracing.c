/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/tracing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "host/tracepoint.h"

/* Period and threshold from now on, and the reason. Shares in millionths of a CPU. */
static const struct tracing_field sampling_fields[] = {
	{ "u64", "old_period_ns", 8, 0 },
	{ "u64", "new_period_ns", 8, 0 },
	{ "u64", "old_threshold_ns", 8, 0 },
	{ "u64", "new_threshold_ns", 8, 0 },
	{ "u32", "max_rate", 4, 0 },
	{ "u32", "bpf_ppm", 4, 0 },
	{ "u32", "own_ppm", 4, 0 },
	{ "u32", "limit_ppm", 4, 0 },
	{ "char", "text[80]", 80, 0 },
	{ 0 },
};

/* The object that a sample of offcpu-time waited for. Unknown strings are empty. */
static const struct tracing_field wait_fields[] = {
	{ "u64", "ns", 8, 0 },
	{ "u64", "blocks", 8, 0 },
	{ "s32", "nr", 4, 1 },
	{ "char", "state[4]", 4, 0 },
	{ "u64", "arg0", 8, 0 },
	{ "u64", "arg1", 8, 0 },
	{ "u64", "arg2", 8, 0 },
	{ "u64", "arg3", 8, 0 },
	{ "u64", "arg4", 8, 0 },
	{ "u64", "arg5", 8, 0 },
	{ "u64", "futex", 8, 0 },
	{ "u64", "inode", 8, 0 },
	{ "char", "name[32]", 32, 0 },
	{ "char", "kind[16]", 16, 0 },
	{ "char", "device[16]", 16, 0 },
	{ "char", "path[256]", 256, 0 },
	{ "char", "local[56]", 56, 0 },
	{ "char", "remote[56]", 56, 0 },
	{ "char", "text[104]", 104, 0 },
	{ "s32", "owner", 4, 1 },
	{ "s32", "ready", 4, 1 },
	{ "char", "owner_comm[16]", 16, 0 },
	{ "char", "object[64]", 64, 0 },
	{ "char", "peer[56]", 56, 0 },
	{ "char", "title[64]", 64, 0 },
	{ 0 },
};

/* Configs are never renumbered: files carry them. Kernels count from 1 and stay far below. */
static const struct tracing_event events[] = {
	{ 60001, "rates", sampling_fields,
	  "\"period %llu -> %llu ns, threshold %llu -> %llu ns (%s)\", REC->old_period_ns, "
	  "REC->new_period_ns, REC->old_threshold_ns, REC->new_threshold_ns, REC->text" },
	{ 60002, "waits", wait_fields, "\"%s\", REC->text" },
};

#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

static const struct tracing_field common_fields[] = {
	{ "unsigned short", "common_type", 2, 0 },
	{ "unsigned char", "common_flags", 1, 0 },
	{ "unsigned char", "common_preempt_count", 1, 0 },
	{ "int", "common_pid", 4, 1 },
	{ 0 },
};

_Static_assert(sizeof(struct tracing_common) == 8, "the common fields are 8 bytes");

const struct tracing_event *tracing__events(size_t *nr)
{
	*nr = NR_EVENTS;
	return events;
}

const struct tracing_event *tracing__event(uint64_t config)
{
	for (size_t i = 0; i < NR_EVENTS; i++) {
		if (events[i].config == config)
			return &events[i];
	}
	return NULL;
}

size_t tracing_event__size(const struct tracing_event *event)
{
	size_t size = sizeof(struct tracing_common);

	for (const struct tracing_field *field = event->fields; field->name; field++)
		size += field->size;
	return size;
}

static int __attribute__((format(printf, 2, 3)))
put_text(struct buffer *out, const char *format, ...)
{
	char *text;
	va_list args;
	int len, err;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	err = buffer__append(out, text, (size_t)len);
	free(text);
	return err;
}

static int put_fields(struct buffer *out, const struct tracing_field *field, size_t *offset)
{
	int err = 0;

	for (; !err && field->name; field++) {
		err = put_text(out, "\tfield:%s %s;\toffset:%zu;\tsize:%u;\tsigned:%u;\n",
			       field->type, field->name, *offset, field->size, field->is_signed);
		*offset += field->size;
	}
	return err;
}

int tracing_event__format(const struct tracing_event *event, struct buffer *out)
{
	size_t offset = 0;
	int err;

	err = put_text(out, "name: %s\nID: %u\nformat:\n", event->name, event->config);
	if (!err)
		err = put_fields(out, common_fields, &offset);
	if (!err)
		err = put_text(out, "\n");
	if (!err)
		err = put_fields(out, event->fields, &offset);
	return err ? err : put_text(out, "\nprint fmt: %s\n", event->print);
}

/* A name with its NUL. */
static int put_name(struct buffer *out, const char *name)
{
	return buffer__append(out, name, strlen(name) + 1);
}

/* A u64 size and the bytes. */
static int put_sized(struct buffer *out, const struct buffer *bytes)
{
	int err = buffer__append_u64(out, bytes->len);

	return err ? err : buffer__append(out, bytes->data, bytes->len);
}

/* Layout of a kernel ring buffer. None was used, but readers learn the size of a long from it. */
static int put_ring_header(struct buffer *out)
{
	struct buffer page = { 0 }, event = { 0 };
	size_t word = sizeof(long), data = 8 + word;
	int err;

	err = put_text(&page,
		       "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		       "\tfield: local_t commit;\toffset:8;\tsize:%zu;\tsigned:1;\n"
		       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		       "\tfield: char data;\toffset:%zu;\tsize:%ld;\tsigned:1;\n",
		       word, data, sysconf(_SC_PAGESIZE) - (long)data);
	if (!err)
		err = put_text(&event, "# events are raw data of samples\n");
	if (!err)
		err = put_name(out, "header_page");
	if (!err)
		err = put_sized(out, &page);
	if (!err)
		err = put_name(out, "header_event");
	if (!err)
		err = put_sized(out, &event);
	buffer__free(&page);
	buffer__free(&event);
	return err;
}

/* The next tracepoint of the same subsystem, from one on; nr: there is none. */
static size_t next_of(const struct tracepoint_list *list, size_t from, const char *system)
{
	while (from < list->nr && strcmp(list->all[from].system, system))
		from++;
	return from;
}

static int put_system(struct buffer *out, const struct tracepoint_list *list, const char *system)
{
	uint32_t nr = 0;
	int err;

	for (size_t i = 0; (i = next_of(list, i, system)) < list->nr; i++)
		nr++;
	err = put_name(out, system);
	if (!err)
		err = buffer__append_u32(out, nr);
	for (size_t i = 0; !err && (i = next_of(list, i, system)) < list->nr; i++) {
		const struct buffer format = { .data = list->all[i].format,
					       .len = strlen(list->all[i].format) };

		err = put_sized(out, &format);
	}
	return err;
}

/* True if a tracepoint is the first of its subsystem. */
static bool opens_system(const struct tracepoint_list *list, size_t i)
{
	return next_of(list, 0, list->all[i].system) == i;
}

/* The kernel's tracepoints, by subsystem. */
static int put_tracepoints(struct buffer *out, const struct tracepoint_list *list)
{
	int err = 0;

	for (size_t i = 0; !err && list && i < list->nr; i++) {
		if (opens_system(list, i))
			err = put_system(out, list, list->all[i].system);
	}
	return err;
}

static uint32_t count_systems(const struct tracepoint_list *list)
{
	uint32_t nr = 0;

	for (size_t i = 0; list && i < list->nr; i++)
		nr += opens_system(list, i);
	return nr;
}

static int put_events(struct buffer *out, const struct tracepoint_list *list)
{
	struct buffer format = { 0 };
	int err;

	err = buffer__append_u32(out, 0); /* events of ftrace itself */
	if (!err)
		err = buffer__append_u32(out, 1 + count_systems(list));
	if (!err)
		err = put_name(out, TRACING_SYSTEM);
	if (!err)
		err = buffer__append_u32(out, NR_EVENTS);
	for (size_t i = 0; !err && i < NR_EVENTS; i++) {
		format.len = 0;
		err = tracing_event__format(&events[i], &format);
		if (!err)
			err = put_sized(out, &format);
	}
	buffer__free(&format);
	return err ? err : put_tracepoints(out, list);
}

int tracing__encode(struct buffer *out, const struct tracepoint_list *list)
{
	static const unsigned char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t order_and_word[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	int err;

	err = buffer__append(out, magic, sizeof(magic));
	if (!err)
		err = put_name(out, "0.6");
	if (!err)
		err = buffer__append(out, order_and_word, sizeof(order_and_word));
	if (!err)
		err = buffer__append_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	if (!err)
		err = put_ring_header(out);
	if (!err)
		err = put_events(out, list);
	if (!err)
		err = buffer__append_u32(out, 0); /* kallsyms */
	if (!err)
		err = buffer__append_u32(out, 0);      /* formats of trace_printk() */
	return err ? err : buffer__append_u64(out, 0); /* names of tasks */
}
