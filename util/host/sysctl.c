/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/sysctl.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const char *const lockdown_names[] = {
	[LOCKDOWN_UNKNOWN] = "unknown",
	[LOCKDOWN_NONE] = "none",
	[LOCKDOWN_INTEGRITY] = "integrity",
	[LOCKDOWN_CONFIDENTIALITY] = "confidentiality",
};

const char *lockdown__name(enum lockdown lockdown)
{
	return lockdown_names[lockdown];
}

enum lockdown lockdown__parse(const char *text)
{
	const char *open = strchr(text, '[');
	const char *close = open ? strchr(open, ']') : NULL;
	size_t len;

	if (!close)
		return LOCKDOWN_UNKNOWN;
	len = (size_t)(close - open) - 1;
	for (int i = LOCKDOWN_NONE; i <= LOCKDOWN_CONFIDENTIALITY; i++) {
		if (strlen(lockdown_names[i]) == len && !memcmp(open + 1, lockdown_names[i], len))
			return (enum lockdown)i;
	}
	return LOCKDOWN_UNKNOWN;
}

enum lockdown lockdown__read(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char text[128] = "";

	if (!file)
		return LOCKDOWN_UNKNOWN;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return lockdown__parse(text);
}

int sysctl__read(const char *name, int64_t *value)
{
	char path[128];
	FILE *file;
	int nr, err;

	if (snprintf(path, sizeof(path), "/proc/sys/%s", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	for (char *p = path; *p; p++) {
		if (*p == '.')
			*p = '/';
	}
	file = fopen(path, "re");
	if (!file)
		return -errno;
	errno = 0;
	nr = fscanf(file, "%" SCNd64, value);
	err = nr == 1 ? 0 : errno ? -errno : -EINVAL;
	fclose(file);
	return err;
}

/* The descriptors in use; the one that reads the folder is among them, a small reserve. */
static size_t descriptors__used(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	if (!dir)
		return 64;
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

int descriptors__reserve(size_t nr, uint64_t *limit)
{
	rlim_t need = descriptors__used() + nr;
	struct rlimit now;

	if (getrlimit(RLIMIT_NOFILE, &now))
		return -errno;
	if (now.rlim_cur < need) {
		struct rlimit wanted = {
			.rlim_cur = need,
			.rlim_max = now.rlim_max < need ? need : now.rlim_max,
		};

		if (!setrlimit(RLIMIT_NOFILE, &wanted))
			now = wanted;
	}
	if (limit)
		*limit = now.rlim_cur;
	return now.rlim_cur < need ? -EMFILE : 0;
}
