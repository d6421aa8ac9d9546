/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/zstd_stream.h"
#include "top/csv_dir.h"

#define ROOM 32768

/* Whether a file has the name of one of a kind, compressed or not. */
static bool is_kind(const char *name, const char *kind)
{
	size_t prefix = strlen(CSV_PREFIX), len = strlen(kind);
	const char *end = strstr(name, ".csv");

	return !strncmp(name, CSV_PREFIX, prefix) && !strncmp(name + prefix, kind, len) &&
	       name[prefix + len] == '_' && end &&
	       (!strcmp(end, ".csv") || !strcmp(end, ".csv.zst") || !strcmp(end, ".csv.gz"));
}

static bool is_same(int plain, struct zstd_reader *reader)
{
	char text[ROOM], bytes[ROOM];
	ssize_t len, got;

	do {
		len = zstd_reader__read(reader, text, sizeof(text));
		if (len < 0)
			return false;
		for (ssize_t at = 0; at < len; at += got) {
			got = read(plain, bytes, (size_t)(len - at));
			if (got <= 0 || memcmp(bytes, text + at, (size_t)got) != 0)
				return false;
		}
	} while (len);
	return !read(plain, bytes, 1);
}

bool csv_beside__is_copy(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	char compressed[NAME_MAX + sizeof(".zst")];
	struct zstd_reader *reader = NULL;
	bool same = false;
	int plain, other;

	snprintf(compressed, sizeof(compressed), "%s.zst", name);
	other = openat(dirfd, compressed, flags);
	if (other < 0)
		return false;
	plain = openat(dirfd, name, flags);
	if (plain >= 0 && zstd_reader__knows(other))
		reader = zstd_reader__new(other);
	if (reader)
		same = is_same(plain, reader);
	zstd_reader__delete(reader);
	if (plain >= 0)
		close(plain);
	close(other);
	return same;
}

int csv_beside__list(const char *path, const char *kind, struct dirent ***entries)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), kept = 0;
	int nr = fd < 0 ? -1 : scandirat(fd, ".", entries, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		struct dirent *entry = (*entries)[i];

		if (is_kind(entry->d_name, kind) &&
		    !csv_beside__is_copy(fd, entry->d_name))
			(*entries)[kept++] = entry;
		else
			free(entry);
	}
	if (fd >= 0)
		close(fd);
	if (nr >= 0 && !kept)
		free(*entries);
	return nr < 0 ? -errno : kept;
}

int csv_beside__open(const char *path)
{
	/* Nobody waits for a writer of a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int open_entry(const char *dir, const char *name, csv_file_fn fn, void *ctx)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	fd = csv_beside__open(path);
	free(path);
	return fd < 0 ? 0 : fn(ctx, fd);
}

static int each_of_dir(const char *path, const char *kind, csv_file_fn fn, void *ctx,
		       const struct csv_pulse *pulse)
{
	struct dirent **entries;
	int nr = csv_beside__list(path, kind, &entries), err = 0;

	for (int i = 0; i < nr; i++) {
		if (!err && pulse)
			err = pulse->fn(pulse->ctx);
		if (!err)
			err = open_entry(path, entries[i]->d_name, fn, ctx);
		free(entries[i]);
	}
	if (nr > 0)
		free(entries);
	return err;
}

int csv_beside__each(const char *path, const char *kind, csv_file_fn fn, void *ctx,
		     const struct csv_pulse *pulse)
{
	const char *slash = strrchr(path, '/');
	struct stat stat_buf;
	char *dir;
	int err;

	if (!stat(path, &stat_buf) && S_ISDIR(stat_buf.st_mode))
		return each_of_dir(path, kind, fn, ctx, pulse);
	/* "/" stays. */
	dir = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
	if (!dir)
		return -ENOMEM;
	err = each_of_dir(dir, kind, fn, ctx, pulse);
	free(dir);
	return err;
}
