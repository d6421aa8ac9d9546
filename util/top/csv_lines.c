/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>

#include "base/zstd_stream.h"

#define MAX_LINE (1 << 18) /* a stack whose bytes are all written as \x0a has less */
#define ROOM 32768

/* A file of any kind, and how its next bytes are got: how many, 0 at the end, or negative. */
struct byte_source {
	void *file;
	ssize_t (*read)(void *file, void *bytes, size_t size);
};

static ssize_t read_by_zlib(void *file, void *bytes, size_t size)
{
	return gzread(file, bytes, (unsigned int)size);
}

static ssize_t read_by_zstd(void *file, void *bytes, size_t size)
{
	return zstd_reader__read(file, bytes, size);
}

/* The line so far. */
struct line {
	char text[MAX_LINE];
	size_t len;
	bool spoilt; /* too long, or with a NUL in it */
};

static int take_bytes(struct line *line, const char *bytes, size_t nr, csv_line_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (bytes[i] == '\n') {
			line->text[line->spoilt ? 0 : line->len] = '\0';
			line->len = 0;
			line->spoilt = false;
			err = fn(ctx, line->text);
		} else if (!bytes[i] || line->len == MAX_LINE - 1) {
			line->spoilt = true;
		} else {
			line->text[line->len++] = bytes[i];
		}
	}
	return err;
}

static int read_lines(const struct byte_source *source, csv_line_fn fn, void *ctx)
{
	struct line *line = calloc(1, sizeof(*line));
	char *bytes = malloc(ROOM);
	int err = line && bytes ? 0 : -ENOMEM;
	ssize_t nr = 0;

	while (!err && (nr = source->read(source->file, bytes, ROOM)) > 0)
		err = take_bytes(line, bytes, (size_t)nr, fn, ctx);
	free(line);
	free(bytes);
	return err || nr >= 0 ? err : -EIO;
}

static int read_zstd(int fd, csv_line_fn fn, void *ctx)
{
	struct byte_source source = { .file = zstd_reader__new(fd), .read = read_by_zstd };
	int err = source.file ? read_lines(&source, fn, ctx) : -ENOMEM;

	zstd_reader__delete(source.file);
	close(fd);
	return err;
}

/* gzdopen(3) reads files that are not compressed as they are. */
static int read_plain(int fd, csv_line_fn fn, void *ctx)
{
	struct byte_source source = { .file = gzdopen(fd, "rb"), .read = read_by_zlib };
	int err;

	if (!source.file) {
		close(fd);
		return -ENOMEM;
	}
	err = read_lines(&source, fn, ctx);
	/* The end came within what is compressed. */
	if (gzclose(source.file) == Z_BUF_ERROR && !err)
		err = -EIO;
	return err;
}

int csv_lines__read(int fd, csv_line_fn fn, void *ctx)
{
	return zstd_reader__knows(fd) ? read_zstd(fd, fn, ctx) : read_plain(fd, fn, ctx);
}
