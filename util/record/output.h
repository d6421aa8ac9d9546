/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_OUTPUT_H
#define DENET_RECORD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "output/perfdata/writer.h"
#include "record/rotation.h"
#include "symbol/cache.h"

struct dso_table;
struct machine;
struct sink;

struct output_options {
	struct writer_options writer; /* of each file */
	struct rotation_options rotation;
	const struct machine *machine; /* tells what a later file begins with, */
	const struct sink *sink;       /* of the processes that this one tells; NULL: all */
	bool build_ids;
	bool fill_cache; /* what has a build-id is wanted in perf's cache, too */
};

/*
 * Where a recording goes: one file or, with --switch-output, one after the other, with the
 * build-ids of what was hit.
 */
struct output {
	struct output_options options;
	struct writer *writer; /* of the file of now; NULL: it is closed */
	struct dso_table *dso_table;     /* NULL: nobody wants build-ids */
	struct rotation rotation;
	struct cache cache;     /* what is to be copied there in the end */
	uint64_t earlier_bytes; /* of files that are closed */
	bool named; /* the file that was closed last has its name still */
};

/*
 * Opens the first file. What the options point to is borrowed until output__free(), which must
 * follow an error as well. 0 or a negative errno (logged).
 */
int output__init(struct output *output, const struct output_options *options);

/*
 * What the file has now is what every file begins with; it is written, with the build-ids that
 * deadline_ms allows. 0 or a negative errno.
 */
int output__begin(struct output *output, int deadline_ms);

/* A window has ended: writes what is buffered, and reads build-ids that may soon be gone. */
int output__end_window(struct output *output, int deadline_ms);

/* Bytes in all files so far. */
uint64_t output__bytes(const struct output *output);

/* When another file is due by its time, ns of CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t output__due(const struct output *output);

/* Whether to go on in another file; asked: the user asked for one. */
bool output__wants_switch(const struct output *output, uint64_t now, bool asked);

/*
 * Closes the file and goes on in another one, which begins with what has to be known of the past.
 * deadline_ms is for the build-ids. 0 or a negative errno (logged).
 */
int output__switch(struct output *output, int deadline_ms);

/* The capture failed: the file is closed without build-ids. */
void output__forget_dsos(struct output *output);

/*
 * The file becomes complete and gets its name; deadline_ms is for its build-ids. 0 or a negative
 * errno (logged).
 */
int output__close(struct output *output, int deadline_ms);

/* The path of the file that was closed last; NULL: it is a pipe or a device, or lost its name. */
const char *output__path(const struct output *output);

/* Copies what is wanted into perf's cache. Takes its time; the file is complete without. */
void output__fill_cache(struct output *output, int deadline_ms);

/* Nothing was recorded: an older file gets its name back. */
void output__discard(struct output *output);

/* Closes what is open and frees what the output owns, not the output. */
void output__free(struct output *output);

#endif /* DENET_RECORD_OUTPUT_H */
