/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_ARCHIVE_H
#define DENET_TOP_CSV_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

/* What becomes of the files of earlier hours. */
struct csv_archive_options {
	bool compress;	    /* they become .csv.zst */
	uint64_t max_bytes; /* of all files; the oldest go first; 0: no limit */
	uint64_t max_ns;    /* of age; 0: no limit */
};

struct csv_archive;

/* dirfd is borrowed. NULL: no memory. */
struct csv_archive *csv_archive__new(const struct csv_archive_options *options, int dirfd);
void csv_archive__delete(struct csv_archive *archive); /* accepts NULL */

/*
 * Deletes files that are too old or too many, but those of the hour that is open ("2026-01-31.23")
 * and of later ones, which count for nothing. wall_ns: the time, in ns since the epoch. 0 or a
 * negative errno (logged).
 */
int csv_archive__retain(struct csv_archive *archive, const char *hour, uint64_t wall_ns);

/*
 * Compresses a part of a file of an hour before that one: takes some 20 ms at most, so that
 * sampling goes on beside it. *more: there is more to do. A failure is a warning: that file and
 * later ones stay as they are.
 */
void csv_archive__step(struct csv_archive *archive, const char *hour, bool *more);

#endif /* DENET_TOP_CSV_ARCHIVE_H */
