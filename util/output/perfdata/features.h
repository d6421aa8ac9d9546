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

/* What the features of a file are made from. Empty strings and zeros: not known. */
struct features {
	char hostname[65];
	char release[65];
	char machine[65];
	char cpudesc[256];
	const char *version;
	char note[96]; /* told behind the version; may be empty */
	uint32_t cpus_online;
	uint32_t cpus_avail; /* the highest CPU number that is present, and one */
	uint64_t total_mem_kb;
	int argc;
	const char *const *argv;
	bool cgroups;
	uint32_t stack_bytes; /* as writer_options.stack_bytes */
	bool one_event; /* as writer_options.one_event */
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
 * Reads what this machine says about itself: name, release, CPUs, memory, clocks. What it
 * does not say stays zero. The other fields are the caller's.
 */
void features__read_host(struct features *features);

/* Adds tracepoints of the kernel, borrowed; NULL: none. */
void features__set_tracepoints(struct features *features, const struct tracepoint_list *list);
size_t features__nr_traced(const struct features *features);

/*
 * As attrs__select(), and the events of tracepoints of the kernel behind the others, which are in
 * the file in any case.
 */
size_t features__select(const struct features *features, uint64_t events,
			const struct event_kind *kinds[]);

/* The name that an event has in this file. */
const char *features__event_name(const struct features *features, const struct event_kind *kind);

/* When in a file's life a feature is known. */
enum feature_phase {
	FEATURE_AT_START,
	FEATURE_AT_END,
	FEATURE_AS_RECORDS, /* in a pipe it travels in records of its own kind */
};

/* The features that we know to write: bits in ascending order, nr of them. */
struct feature_kind {
	enum layout_feature bit;
	enum feature_phase phase;
	int (*encode)(struct buffer *out, const struct features *features);
};
const struct feature_kind *features__kinds(size_t *nr);

/*
 * Appends the bytes of a feature. 1 if it was written, 0 if the features have nothing to
 * say about it (then nothing is appended), -ENOMEM.
 */
int feature_kind__encode(const struct feature_kind *kind, struct buffer *out,
			 const struct features *features);

/*
 * Appends what follows the data of a file: the table of sections, room->size bytes of zeros for
 * the caller, then the sections, as if at the given file offset. Sets room->offset, in the file,
 * and the bits of the sections that are there. 0 or -ENOMEM.
 */
int features__encode(struct buffer *out, const struct features *features, uint64_t offset,
		     struct layout_section *room, uint64_t bits[LAYOUT_FEATURE_BITS / 64]);

#endif /* DENET_OUTPUT_PERFDATA_FEATURES_H */
