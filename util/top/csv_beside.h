/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_BESIDE_H
#define DENET_TOP_CSV_BESIDE_H

#include "top/csv_lines.h"

/*
 * Reads the lines of all files with names that begin so, of a directory, or of that of a file.
 * Files that cannot be read, or are broken, have the lines before that. 0, fn's error, or -ENOMEM.
 */
int csv_beside__read(const char *path, const char *prefix, csv_line_fn fn, void *ctx);

#endif /* DENET_TOP_CSV_BESIDE_H */
