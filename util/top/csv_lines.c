/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/zstd_stream.h"

#define MAX_LINE 65536

/* A file of any kind, and how its next line is got; 1, 0 at the end, or a negative errno. */
struct line_source {
	void *file;
	int (*gets)(void *file, char *line, size_t max);
};

static int gets_plain(void *file, char *line, size_t max)
{
	return gzgets(file, line, (int)max) != NULL;
}

static int gets_zstd(void *file, char *line, size_t max)
{
	return zstd_reader__gets(file, line, max);
}

static int read_lines(const struct line_source *source, csv_line_fn fn, void *ctx)
{
	char *line = malloc(MAX_LINE), *end;
	int err = line ? 0 : -ENOMEM, ret = 0;

	while (!err && (ret = source->gets(source->file, line, MAX_LINE)) == 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		err = fn(ctx, line);
	}
	free(line);
	return err || ret >= 0 ? err : -EIO;
}

static int read_zstd(int fd, csv_line_fn fn, void *ctx)
{
	struct line_source source = { .file = zstd_reader__new(fd), .gets = gets_zstd };
	int err = source.file ? read_lines(&source, fn, ctx) : -ENOMEM;

	zstd_reader__delete(source.file);
	close(fd);
	return err;
}

/* gzdopen(3) reads files that are not compressed as they are. */
static int read_plain(int fd, csv_line_fn fn, void *ctx)
{
	struct line_source source = { .file = gzdopen(fd, "rb"), .gets = gets_plain };
	int err;

	if (!source.file) {
		close(fd);
		return -ENOMEM;
	}
	err = read_lines(&source, fn, ctx);
	gzclose(source.file);
	return err;
}

int csv_lines__read(int fd, csv_line_fn fn, void *ctx)
{
	return zstd_reader__knows(fd) ? read_zstd(fd, fn, ctx) : read_plain(fd, fn, ctx);
}
