/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_BESIDE_H
#define DENET_TOP_CSV_BESIDE_H

#include <stdbool.h>

/* Receives a file, which it closes. 0, or an error that ends the reading. */
typedef int (*csv_file_fn)(void *ctx, int fd);

/*
 * Passes on the files of one kind, such as "kstacks", of a directory, or of that of a file, in the
 * order of their names. Those that cannot be opened are left out. 0, fn's error, or -ENOMEM.
 */
int csv_beside__each(const char *path, const char *kind, csv_file_fn fn, void *ctx);

/* Whether a file has the name of one of a kind, compressed or not. */
bool csv_beside__is_kind(const char *name, const char *kind);

#endif /* DENET_TOP_CSV_BESIDE_H */
