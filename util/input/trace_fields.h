/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_TRACE_FIELDS_H
#define DENET_INPUT_TRACE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/*
 * The fields of the events denet:*, found by their names in the formats that the file itself
 * carries (TRACING_DATA), so that a later version may add fields or move them.
 */
struct trace_fields;

/* The fields of one denet:waits. Strings are cut to their room. */
struct trace_wait {
	uint64_t ns;
	char call[32]; /* reason.call points here */
	char text[104];
	struct reason reason;
};

/*
 * From the bytes of TRACING_DATA. NULL and in *err: -EINVAL if it is no such data, -ENOMEM.
 */
struct trace_fields *trace_fields__new(const void *data, size_t size, int *err);
void trace_fields__delete(struct trace_fields *fields); /* accepts NULL */

/*
 * Decodes the raw data of a sample of denet:waits. Fields that the file lacks stay zero or empty.
 * 0; -ENOENT: the file has no format of it; -EINVAL: a field lies outside.
 */
int trace_fields__wait(const struct trace_fields *fields, const void *raw, size_t size,
		       struct trace_wait *wait);

#endif /* DENET_INPUT_TRACE_FIELDS_H */
