/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_ZSTD_STREAM_H
#define DENET_ZSTD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
 * The next bytes of the text, size at most. How many; 0: there are none; a negative errno, -EINVAL
 * if the file is broken or cut.
 */
ssize_t zstd_reader__read(struct zstd_reader *reader, void *bytes, size_t size);
void zstd_reader__delete(struct zstd_reader *reader); /* accepts NULL */

#endif /* DENET_ZSTD_STREAM_H */
