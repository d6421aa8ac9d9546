/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "top/csv_dir.h"

bool csv_beside__is_kind(const char *name, const char *kind)
{
	size_t prefix = strlen(CSV_PREFIX), len = strlen(kind);
	const char *end = strstr(name, ".csv");

	return !strncmp(name, CSV_PREFIX, prefix) && !strncmp(name + prefix, kind, len) &&
	       name[prefix + len] == '_' && end &&
	       (!strcmp(end, ".csv") || !strcmp(end, ".csv.zst") || !strcmp(end, ".csv.gz"));
}

static int open_entry(const char *dir, const char *name, csv_file_fn fn, void *ctx)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	/* Nobody waits for a writer of a FIFO. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	free(path);
	return fd < 0 ? 0 : fn(ctx, fd);
}

static int each_of_dir(const char *path, const char *kind, csv_file_fn fn, void *ctx)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, NULL, alphasort), err = 0;

	for (int i = 0; i < nr; i++) {
		if (!err && csv_beside__is_kind(entries[i]->d_name, kind))
			err = open_entry(path, entries[i]->d_name, fn, ctx);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return err;
}

int csv_beside__each(const char *path, const char *kind, csv_file_fn fn, void *ctx)
{
	const char *slash = strrchr(path, '/');
	struct stat stat_buf;
	char *dir;
	int err;

	if (!stat(path, &stat_buf) && S_ISDIR(stat_buf.st_mode))
		return each_of_dir(path, kind, fn, ctx);
	/* "/" stays. */
	dir = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
	if (!dir)
		return -ENOMEM;
	err = each_of_dir(dir, kind, fn, ctx);
	free(dir);
	return err;
}
