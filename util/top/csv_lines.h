/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_LINES_H
#define DENET_TOP_CSV_LINES_H

/* Receives a line without its newline. 0, or an error that ends the reading. */
typedef int (*csv_line_fn)(void *ctx, char *line);

/*
 * Reads the lines of a file, compressed by zstd or gzip or not at all. One that has no end yet is
 * being written, or was when its writer was killed: it is left out. One of 256 KB or more, or with
 * a NUL in it, is passed as an empty one. Closes fd. 0, fn's error, -EIO if the file is broken or
 * cut, or -ENOMEM.
 */
int csv_lines__read(int fd, csv_line_fn fn, void *ctx);

#endif /* DENET_TOP_CSV_LINES_H */
