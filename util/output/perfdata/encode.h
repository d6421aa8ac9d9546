/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_ENCODE_H
#define DENET_OUTPUT_PERFDATA_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "machine/task_event.h"
#include "output/perfdata/layout.h"
#include "output/perfdata/records.h"
#include "sample.h"

/*
 * Records of a perf.data file as bytes: pure functions that append one whole record to a buffer. A
 * record is 8-aligned, its padding is zero, its strings end in a NUL, and it has at most
 * LAYOUT_RECORD_MAX bytes: names and chains that do not fit are cut. Each returns 0 or -ENOMEM;
 * then the buffer is unchanged. id is the event's. Records that are no samples have time 0 unless a
 * time is given, so that readers sort them first.
 */

/*
 * A sample with count and state behind its chain, and optionally its cgroup. No frames: ip 0, an
 * empty chain.
 */
int encode__sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample);

/*
 * The same with a kernel address as the outermost frame, for a reader that shows 127 frames: the
 * roots of the user side are cut for it.
 */
int encode__rooted_sample(struct buffer *out, uint64_t id, bool cgroup, uint64_t root,
			  const struct sample *sample);

/*
 * The same for a file whose samples carry registers and stacks (REGS_USER, STACK_USER): with
 * a copy its user frames are left out, since readers add those that they unwind. A stack that
 * does not fit into the record is cut.
 */
int encode__stack_sample(struct buffer *out, uint64_t id, bool cgroup,
			 const struct sample *sample);

/*
 * A sample without a chain that carries size bytes of raw data. -E2BIG if they do not fit
 * into a record.
 */
int encode__raw_sample(struct buffer *out, uint64_t id, bool cgroup, const struct sample *sample,
		       const void *raw, size_t size);

/*
 * A record of the side band: a copy of the kernel's, with its id replaced, if the event was decoded
 * from one; else one made from the event. A comm is cut at 15 bytes, the kernel's limit, a path at
 * PATH_MAX - 1; a mapping's path may be NULL, an empty one. -EINVAL for events without a record of
 * ours, EXIT and EXEC.
 */
int encode__task_event(struct buffer *out, uint64_t id, const struct task_event *event);

/* KSYMBOL: a symbol of the kernel, of len bytes. */
int encode__kernel_symbol(struct buffer *out, uint64_t id, uint64_t addr, uint32_t len,
			  const char *name);

/* LOST: so many records of the ring of a CPU were lost by that time, in ns. */
int encode__lost(struct buffer *out, uint64_t id, uint64_t records, uint64_t time, uint32_t cpu);

/* FINISHED_ROUND: readers may sort what lies before. */
int encode__finished_round(struct buffer *out);

/* EVENT_UPDATE that names an event; cut at 255 bytes. */
int encode__event_name(struct buffer *out, uint64_t id, const char *name);

/* HEADER_ATTR: attr has LAYOUT_ATTR_SIZE bytes. */
int encode__header_attr(struct buffer *out, uint64_t id, const unsigned char *attr);

/* HEADER_TRACING_DATA, and behind it size bytes, padded. */
int encode__tracing_data(struct buffer *out, const void *data, size_t size);

/*
 * HEADER_FEATURE: a feature for the pipe. -E2BIG if it does not fit into a record: features are
 * never cut.
 */
int encode__header_feature(struct buffer *out, unsigned int feature, const void *data, size_t size);

/*
 * A build-id with its file, for the BUILD_ID feature and for the pipe. -EINVAL if id is
 * longer than 20 bytes or empty.
 */
int encode__build_id(struct buffer *out, bool kernel, const char *path, const unsigned char *id,
		     size_t len);

/* Size of the whole records in the first size bytes of data. */
size_t encode__whole_records(const void *data, size_t size);

#endif /* DENET_OUTPUT_PERFDATA_ENCODE_H */
