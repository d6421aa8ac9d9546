/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_FEATURES_H
#define DENET_OUTPUT_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "output/perfdata/attrs.h"
#include "output/perfdata/layout.h"
#include "host/tracepoint.h"

/* The contents of a file's features. Empty strings and zeros: not known. */
struct features {
	char hostname[65];
	char release[65];
	char machine[65];
	char cpudesc[256];
	const char *version;
	char note[96]; /* appended to the version; may be empty */
	uint32_t cpus_online;
	uint32_t cpus_avail; /* one more than the highest CPU number present */
	uint64_t total_mem_kb;
	int argc;
	const char *const *argv;
	bool cgroups;
	uint32_t stack_bytes; /* as writer_options.stack_bytes */
	bool one_event; /* as writer_options.one_event */
	const char *event_name; /* as writer_options.event_name */
	uint64_t events; /* as writer_options.events */
	uint64_t late; /* bits of the late events that are in the file */
	const struct tracepoint_list *tracepoints; /* NULL: none */
	struct event_kind traced[TRACEPOINTS_MAX]; /* their events */
	uint32_t clockid;
	uint64_t clock_resolution_ns;
	uint64_t clock_ns;    /* of clockid */
	uint64_t realtime_ns; /* at the same moment, ns since 1970 */
	uint64_t first_ns;    /* of the first sample; both 0: there is none */
	uint64_t last_ns;
	const struct buffer *build_ids; /* records as encode__build_id() makes them */
};

/*
 * Fills in the facts of this machine: name, release, CPUs, memory, clocks; zero if unknown. The
 * other fields are the caller's.
 */
void features__read_host(struct features *features);

/* Adds tracepoints of the kernel, borrowed; NULL: none. */
void features__set_tracepoints(struct features *features, const struct tracepoint_list *list);
size_t features__nr_traced(const struct features *features);

/*
 * attrs__select(), plus the events of the kernel's tracepoints behind the others; these are always
 * in the file.
 */
size_t features__select(const struct features *features, uint64_t events,
			const struct event_kind *kinds[]);

/* The name of an event in this file. */
const char *features__event_name(const struct features *features, const struct event_kind *kind);

/* The time in a file's life at which a feature is known. */
enum feature_phase {
	FEATURE_AT_START,
	FEATURE_AT_END,
	FEATURE_AS_RECORDS, /* in a pipe it travels in records of its own kind */
};

/* Features that can be written: nr bits in ascending order. */
struct feature_kind {
	enum layout_feature bit;
	enum feature_phase phase;
	int (*encode)(struct buffer *out, const struct features *features);
};
const struct feature_kind *features__kinds(size_t *nr);

/*
 * Appends the bytes of a feature. 1 if it was written, 0 if its contents are not known (then
 * nothing is appended), -ENOMEM.
 */
int feature_kind__encode(const struct feature_kind *kind, struct buffer *out,
			 const struct features *features);

/*
 * Appends the part of a file behind its data: the table of sections, room->size bytes of zeros for
 * the caller, then the sections, as if at the given file offset. Sets room->offset, in the file,
 * and the bits of the sections written. 0 or -ENOMEM.
 */
int features__encode(struct buffer *out, const struct features *features, uint64_t offset,
		     struct layout_section *room, uint64_t bits[LAYOUT_FEATURE_BITS / 64]);

#endif /* DENET_OUTPUT_PERFDATA_FEATURES_H */
