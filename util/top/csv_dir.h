/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_DIR_H
#define DENET_TOP_CSV_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* The files that xcapture has for each hour: "xcapture_samples_2026-01-31.23.csv" and so on. */
enum csv_kind {
	CSV_SAMPLES,
	CSV_SYSCEND, /* calls and requests that have ended: empty without --track */
	CSV_IORQEND,
	CSV_KSTACKS,
	CSV_USTACKS,
	CSV_CGROUPS,
	CSV_KINDS,
};

#define CSV_PREFIX "xcapture_"
const char *csv_kind__name(enum csv_kind kind); /* "samples" ... */

#define CSV_NAME_LEN 96
#define CSV_MOST_PARTS 99

/*
 * The name of a part of an hour. The first one has xcapture's name, further ones, which are written
 * where that is taken, are "xcapture_samples_2026-01-31.23.part02.csv" and so on, which sort behind
 * it.
 */
void csv_part__put_name(const char *kind, const char *hour, unsigned int part,
			char name[CSV_NAME_LEN]);

/* Whether a part is there in compressed form. */
bool csv_part__is_compressed(int dirfd, const char *name);

/* A directory with files of the present hour, which one process at a time writes. */
struct csv_dir;

/*
 * Makes the directory if it is not there. As root, refuses a link that another user has made, but
 * for who has called sudo: others must not choose where root writes. kinds: a bit for each file
 * that is wanted. NULL on error, *err is a negative errno (logged).
 */
struct csv_dir *csv_dir__open(const char *path, uint32_t kinds, int *err);

/* Writes what is left, and closes the files. Accepts NULL. 0 or a negative errno (logged). */
int csv_dir__close(struct csv_dir *dir);

/*
 * Goes on to the files of a time, in ns since the epoch, unless they are open; *is_new says whether
 * that was so. A line that was cut off by a crash is taken away. A file that has other columns, or
 * is compressed, is left alone: the hour gets a further part. 0 or a negative errno (logged).
 */
int csv_dir__turn(struct csv_dir *dir, uint64_t wall_ns, bool *is_new);

/* Where whole lines of a kind are appended to. */
struct buffer *csv_dir__lines(struct csv_dir *dir, enum csv_kind kind);

/*
 * Writes the lines. Where there is no room for all of a file's, none is: no reader sees a part of a
 * line for longer than a moment. 0 or a negative errno (logged).
 */
int csv_dir__flush(struct csv_dir *dir);

/* A descriptor of the directory, and the hour that is open: "2026-01-31.23". */
int csv_dir__fd(const struct csv_dir *dir);
const char *csv_dir__hour(const struct csv_dir *dir);

#endif /* DENET_TOP_CSV_DIR_H */
