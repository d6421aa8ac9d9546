/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_BESIDE_H
#define DENET_TOP_CSV_BESIDE_H

#include <dirent.h>
#include <stdbool.h>

/* Receives a file, which it closes. 0, or an error that ends the reading. */
typedef int (*csv_file_fn)(void *ctx, int fd);

/* Called now and then by what reads for long. 0, or an error that ends the reading. */
struct csv_pulse {
	int (*fn)(void *ctx);
	void *ctx;
};

/*
 * Passes on the files of one kind, such as "kstacks", of a directory, or of that of a file, in the
 * order of their names, with a pulse (NULL: none) before each. Those that cannot be opened are left
 * out. 0, fn's or the pulse's error, or -ENOMEM.
 */
int csv_beside__each(const char *path, const char *kind, csv_file_fn fn, void *ctx,
		     const struct csv_pulse *pulse);

/*
 * Opens a file to read it. The descriptor; -EINVAL: it is no regular file, such as a FIFO that
 * nobody writes into; or another negative errno.
 */
int csv_beside__open(const char *path);

/*
 * Whether a plain file of a directory has the same bytes as the compressed one of its name beside
 * it: a crash came between the end of the compressing and the removal of the plain file.
 */
bool csv_beside__is_copy(int dirfd, const char *name);

/*
 * Lists the files of one kind of a directory by their names, without such copies. The number of
 * entries, which the caller frees, and the list if there are any; or a negative errno.
 */
int csv_beside__list(const char *path, const char *kind, struct dirent ***entries);

#endif /* DENET_TOP_CSV_BESIDE_H */
