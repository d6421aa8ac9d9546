/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_RECORD_H
#define DENET_INPUT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/perfdata/layout.h"
#include "output/perfdata/time_kind.h"
#include "sample.h"

/*
 * Decoders of what is in a perf.data file of ours (Documentation/format.txt): pure functions over
 * a buffer and its length. Nothing of what they return lies outside of the buffer.
 */

/* The layout of an event's samples. */
struct input_event {
	uint64_t id;
	uint32_t type; /* PERF_TYPE_... */
	uint64_t config;
	uint64_t sample_type; /* bits PERF_SAMPLE_... */
	uint64_t regs_user;   /* the attr's sample_regs_user */
};

/* One sample. Pointers lead into the record, which must be aligned to 8 bytes. */
struct input_sample {
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
	uint64_t period;
	uint64_t cgroup; /* 0: the event has none */
	uint64_t count;	 /* blocks; 1 where the event has no count */
	char state;	 /* '?' where the event has none */
	bool preempted;
	enum time_kind time_kind; /* TIME_KINDS: not in the chain */
	bool not_sampled; /* as sample.not_sampled: by its only frame, which is left out */
	struct frames kernel;
	struct frames user;
	const void *raw; /* NULL: the event has none */
	uint32_t raw_size;
	bool has_stack; /* registers and a copy of the stack stand for the user frames */
};

/*
 * The header of a regular file from its first bytes; the sections that it tells are not looked at.
 * 0; -ENODATA: fewer bytes than a header has; -ENOTSUP: of a machine with another byte order;
 * -EPROTO: of another program; -EINVAL: no perf.data.
 */
int input_record__header(const void *data, size_t size, struct layout_header *header);

/* Whether the bytes begin a file of the pipe variant. */
bool input_record__is_pipe(const void *data, size_t size);

/*
 * An event from the LAYOUT_ATTR_SIZE bytes of its attr. 0, or -EINVAL if samples like that are in
 * no file of ours.
 */
int input_record__event(const void *attr, uint64_t id, struct input_event *event);

/* The header of a record of which so many bytes are there. 0 or -EINVAL. */
int input_record__check(const void *record, size_t size, struct perf_event_header *header);

/* The id of the event that a sample belongs to, its first field. 0 or -EINVAL. */
int input_record__sample_id(const void *record, size_t size, uint64_t *id);

/* A whole sample of size bytes. 0, or -EINVAL if its fields do not fill it as the event says. */
int input_record__sample(const void *record, size_t size, const struct input_event *event,
			 struct input_sample *sample);

/* EVENT_UPDATE: the name that an event gets. 0 or -EINVAL. */
int input_record__event_name(const void *record, size_t size, uint64_t *id, const char **name);

/* HEADER_BUILD_ID. len receives 1 to 20. 0 or -EINVAL. */
int input_record__build_id(const void *record, size_t size, const unsigned char **id, size_t *len,
			   const char **path);

#endif /* DENET_INPUT_RECORD_H */
