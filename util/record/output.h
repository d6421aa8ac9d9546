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
	const struct machine *machine; /* its state goes to the front of a later file, */
	const struct sink *sink;       /* for the processes that this one has written; NULL: all */
	bool build_ids;
	bool fill_cache; /* files with a build-id go to perf's cache, too */
};

/*
 * Destination of a recording: one file or, with --switch-output, a series of files, with the
 * build-ids of the files that were hit.
 */
struct output {
	struct output_options options;
	struct writer *writer; /* of the current file; NULL: it is closed */
	struct dso_table *dso_table;     /* NULL: no build-ids */
	struct rotation rotation;
	struct cache cache;     /* files to be copied there at the end */
	uint64_t earlier_bytes; /* of files that are closed */
	bool named; /* the last closed file still has its name */
};

/*
 * Opens the first file. Data that the options point to is borrowed until output__free(), which must
 * follow an error as well. 0 or a negative errno (logged).
 */
int output__init(struct output *output, const struct output_options *options);

/*
 * Ends the part that every file begins with: reads early build-ids for deadline_ms at most, and
 * flushes. 0 or a negative errno.
 */
int output__begin(struct output *output, int deadline_ms);

/* At the end of a window: flushes, and reads build-ids that may soon be out of reach. */
int output__end_window(struct output *output, int deadline_ms);

/* Bytes in all files so far. */
uint64_t output__bytes(const struct output *output);

/* Time at which another file is due, ns of CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t output__due(const struct output *output);

/* True if another file is due; asked: the user requested one. */
bool output__wants_switch(const struct output *output, uint64_t now, bool asked);

/*
 * Closes the file and opens the next one, which begins with the state of the machine. deadline_ms
 * is for the build-ids. 0 or a negative errno (logged).
 */
int output__switch(struct output *output, int deadline_ms);

/* After a failure of the capture: the file is closed without build-ids. */
void output__forget_dsos(struct output *output);

/*
 * Completes the file and names it; deadline_ms is for its build-ids. 0 or a negative errno
 * (logged).
 */
int output__close(struct output *output, int deadline_ms);

/* The path of the last closed file; NULL: it is a pipe or a device, or lost its name. */
const char *output__path(const struct output *output);

/* Copies the files listed to perf's cache. Slow; the recording is complete before. */
void output__fill_cache(struct output *output, int deadline_ms);

/* After an empty recording: an older file gets its name back. */
void output__discard(struct output *output);

/* Closes what is open and frees what the output owns, not the output. */
void output__free(struct output *output);

#endif /* DENET_RECORD_OUTPUT_H */
