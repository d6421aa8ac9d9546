/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_BLOCK_H
#define DENET_INPUT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/record.h"
#include "input/trace_fields.h"
#include "output/perfdata/records.h"

/*
 * A block is up to three records of a file, one behind the other: its time in offcpu-time or
 * offcpu-idle, the time of it in queued-time, and denet:waits. Together they are the sample again
 * that the file was made from.
 */

#define INPUT_MAX_EVENTS 32

struct input_events {
	struct input_event all[INPUT_MAX_EVENTS];
	size_t nr;
};

/* NULL: the file has none of that id. */
const struct input_event *input_events__find(const struct input_events *events, uint64_t id);

/* Whether samples of this event are time, or tell more of time; others are passed over. */
bool input_block__knows(const struct input_event *event);

/*
 * Whether a record of that event belongs to the block of the records before it: the first of them,
 * and the bytes of those behind that. All of them are samples.
 */
bool input_block__goes_on(const void *first, size_t size, size_t more, const void *record,
			  size_t record_size);

/* The parts of a block, and the sample that they make. */
struct input_block {
	struct sample sample;
	struct trace_wait wait; /* the sample's reason is here */
	bool has_stack;
};

/*
 * Decodes a block. fields may be NULL. Frames lead into the records, which must be aligned to 8
 * bytes. 0, or -EINVAL if a record is broken.
 */
int input_block__decode(const struct input_events *events, const struct trace_fields *fields,
			const void *first, size_t size, const void *more, size_t more_size,
			struct input_block *block);

#endif /* DENET_INPUT_BLOCK_H */
