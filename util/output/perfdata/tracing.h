/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_TRACING_H
#define DENET_OUTPUT_PERFDATA_TRACING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Our own events, in the form of tracepoints that no kernel has: TRACING_DATA in the file describes
 * their fields and their text, so that perf prints them and sorts by their fields. An event is an
 * entry of the table in tracing.c.
 */
#define TRACING_SYSTEM "denet"

struct tracing_field {
	const char *type; /* as C has it: "u64", "u32", "char" */
	const char *name; /* with [N] behind it for an array */
	uint32_t size;    /* bytes of the whole field; it begins where the one before ends */
	uint8_t is_signed;
};

struct tracing_event {
	uint16_t config; /* its tracepoint id: beyond the ids of kernels */
	const char *name;
	const struct tracing_field *fields; /* without the common ones; the last has no name */
	const char *print; /* a printf format in quotes, and its arguments: REC->field */
};

/* The fields that each event begins with, as kernels have them, filled in by us. */
struct tracing_common {
	uint16_t type; /* the event's config */
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};

/* All events of ours; *nr receives their number. */
const struct tracing_event *tracing__events(size_t *nr);

/* The event of a config, NULL: there is none. */
const struct tracing_event *tracing__event(uint64_t config);

/* Bytes of an event's fields, the common ones included. */
size_t tracing_event__size(const struct tracing_event *event);

/* Appends the format of an event, as a kernel's tracefs shows one. 0 or -ENOMEM. */
int tracing_event__format(const struct tracing_event *event, struct buffer *out);

/*
 * Appends the TRACING_DATA of all events of ours, and of tracepoints of the kernel (NULL: none). 0
 * or -ENOMEM.
 */
struct tracepoint_list; /* host/tracepoint.h */
int tracing__encode(struct buffer *out, const struct tracepoint_list *list);

#endif /* DENET_OUTPUT_PERFDATA_TRACING_H */
