/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/command_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if path is a file that may be executed. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

/* Searches PATH; an unusable file is an error only if no usable one follows, as in exec. */
static char *search_path(const char *command, int *result)
{
	const char *path = getenv("PATH");
	char *file;
	int err;

	*result = -ENOENT;
	if (!path)
		path = "/bin:/usr/bin";
	for (const char *end; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		/* An empty item is the current directory. */
		if (asprintf(&file, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     command) < 0) {
			*result = -ENOMEM;
			return NULL;
		}
		err = check_file(file);
		if (!err) {
			*result = 0;
			return file;
		}
		free(file);
		if (err == -EACCES)
			*result = err;
	}
	return NULL;
}

char *command_path__find(const char *command, int *err)
{
	char *path;

	if (*command && !strchr(command, '/'))
		return search_path(command, err);
	*err = *command ? check_file(command) : -ENOENT;
	if (*err)
		return NULL;
	path = strdup(command);
	*err = path ? 0 : -ENOMEM;
	return path;
}
