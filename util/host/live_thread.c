/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/live_thread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

/* False for a thread that has ended, which has no root, and for one whose root we may not read. */
static bool has_files(pid_t tid)
{
	char name[32], root[PATH_MAX];

	snprintf(name, sizeof(name), "/proc/%d/root", tid);
	return readlink(name, root, sizeof(root)) > 0;
}

pid_t live_thread__other(pid_t pid)
{
	struct dirent *entry;
	char name[32];
	uint64_t tid;
	pid_t found = 0;
	DIR *dir;

	/* The list of a thread's /proc/TID is that of its process. */
	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = has_files(pid) ? NULL : opendir(name);
	if (!dir)
		return 0;
	while (!found && (entry = readdir(dir))) {
		if (!units__parse_number(entry->d_name, INT32_MAX, &tid) && tid &&
		    (pid_t)tid != pid && has_files((pid_t)tid))
			found = (pid_t)tid;
	}
	closedir(dir);
	return found;
}

int live_thread__comm(pid_t tid, char comm[16])
{
	char name[32], line[64] = "";
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/comm", tid);
	file = fopen(name, "re");
	if (!file)
		return -errno;
	if (!fgets(line, sizeof(line), file))
		*line = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	snprintf(comm, 16, "%.15s", line);
	return *line ? 0 : -ESRCH;
}
