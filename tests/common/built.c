/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/built.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int built__path(const char *folder, const char *name, char *path, size_t size)
{
	char own[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;
	int n;

	if (len < 0)
		return -errno;
	own[len] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	n = snprintf(path, size, "%s/../%s/%s", own, folder, name);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return access(path, R_OK) ? -errno : 0;
}
