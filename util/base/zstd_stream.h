/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_ZSTD_STREAM_H
#define DENET_ZSTD_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Files of zstd, written and read in pieces. Descriptors are the caller's. */
struct zstd_writer;

struct zstd_writer *zstd_writer__new(int fd); /* NULL: no memory */

/* 0 or a negative errno. */
int zstd_writer__write(struct zstd_writer *writer, const void *data, size_t size);

/* Writes the end of the file. 0 or a negative errno. */
int zstd_writer__finish(struct zstd_writer *writer);
void zstd_writer__delete(struct zstd_writer *writer); /* accepts NULL */

struct zstd_reader;

/* Whether the file at fd begins as those of zstd do. Its position stays. */
bool zstd_reader__knows(int fd);

struct zstd_reader *zstd_reader__new(int fd); /* NULL: no memory */

/*
 * The next line into line, which has room for max bytes, with its newline and a NUL; of a longer
 * one, what there is room for. 1; 0: there is none; a negative errno, -EINVAL if the file is broken
 * or cut.
 */
int zstd_reader__gets(struct zstd_reader *reader, char *line, size_t max);
void zstd_reader__delete(struct zstd_reader *reader); /* accepts NULL */

#endif /* DENET_ZSTD_STREAM_H */
