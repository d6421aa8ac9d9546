/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int read_entry(const char *dir, const char *name, csv_line_fn fn, void *ctx)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	free(path);
	err = fd < 0 ? 0 : csv_lines__read(fd, fn, ctx);
	return err == -EIO ? 0 : err;
}

static int read_dir(const char *path, const char *prefix, csv_line_fn fn, void *ctx)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int err = 0;

	while (dir && !err && (entry = readdir(dir))) {
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			err = read_entry(path, entry->d_name, fn, ctx);
	}
	if (dir)
		closedir(dir);
	return err;
}

int csv_beside__read(const char *path, const char *prefix, csv_line_fn fn, void *ctx)
{
	const char *slash = strrchr(path, '/');
	struct stat stat_buf;
	char *dir;
	int err;

	if (!stat(path, &stat_buf) && S_ISDIR(stat_buf.st_mode))
		return read_dir(path, prefix, fn, ctx);
	/* "/" stays. */
	dir = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
	if (!dir)
		return -ENOMEM;
	err = read_dir(dir, prefix, fn, ctx);
	free(dir);
	return err;
}
