/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_ROTATION_H
#define DENET_RECORD_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --switch-output: when a recording goes on in another file, and the names of the files. */
struct rotation_options {
	bool enabled;
	uint64_t size;    /* bytes of a file without its preface, 0: no limit */
	uint64_t time_ns; /* ns that a file is written, 0: no limit */
	/* neither: at SIGUSR2 only */
	uint64_t max_files; /* older ones are removed, 0: never */
};

struct rotation {
	struct rotation_options options;
	const char *path; /* borrowed */
	uint64_t began;   /* begin of the current file, CLOCK_MONOTONIC */
	uint64_t preface; /* bytes it began with */
	char **names;     /* of the latest max_files files */
	size_t next;      /* of names */
	char *last;	  /* the name of the latest file; NULL: there is none */
	uint64_t stamp;	  /* of that name, in hundredths of a second since the epoch */
};

/*
 * Parses the value of --switch-output: a size with B, K, M or G, a time with a unit of ms, s, m, h
 * or d, or "signal". -EINVAL otherwise, -ERANGE if it does not fit.
 */
int rotation__parse(struct rotation_options *options, const char *text);

/* 0 or -ENOMEM. */
int rotation__init(struct rotation *rotation, const struct rotation_options *options,
		   const char *path);
void rotation__free(struct rotation *rotation);

/* Begins a file; preface: bytes that each file begins with. */
void rotation__begin(struct rotation *rotation, uint64_t now, uint64_t preface);

/* Time at which the current file is full, UINT64_MAX: never. */
uint64_t rotation__due(const struct rotation *rotation);

/* True if a file of this many bytes is full by its size or by its time. */
bool rotation__is_full(const struct rotation *rotation, uint64_t now, uint64_t bytes);

/*
 * Renames the closed file to PATH.YYYYMMDDhhmmssNN in local time as perf does, and removes the
 * oldest one if there are too many. A failed rename is logged, and the file keeps its name.
 */
void rotation__end(struct rotation *rotation);

#endif /* DENET_RECORD_ROTATION_H */
