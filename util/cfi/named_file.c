/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/named_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/root_open.h"

/* A line of /proc/PID/maps. True if it is that of the mapping, which has a file. */
static bool parse_line(char *line, uint64_t start, uint64_t end, struct file_id *id,
		       const char **path)
{
	unsigned long long first, last, ino;
	int name = 0;

	if (sscanf(line, "%llx-%llx %*s %*x %x:%x %llu %n", &first, &last, &id->maj, &id->min, &ino,
		   &name) != 5 ||
	    !name || first != start || last != end)
		return false;
	line[strcspn(line, "\n")] = '\0';
	id->ino = ino;
	*path = line + name;
	return true;
}

/* The name of what is mapped there, which the caller frees, and which file that is; NULL: none. */
static char *find_name(FILE *maps, uint64_t start, uint64_t end, struct file_id *id)
{
	const char *path = NULL;
	size_t capacity = 0;
	char *line = NULL, *name;

	while (!path && getline(&line, &capacity, maps) > 0) {
		if (!parse_line(line, start, end, id, &path))
			path = NULL;
	}
	name = path ? strdup(path) : NULL;
	free(line);
	return name;
}

int named_file__open(pid_t pid, uint64_t start, uint64_t end)
{
	struct file_id id;
	char path[32], *name;
	FILE *maps;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	name = find_name(maps, start, end, &id);
	fclose(maps);
	if (!name)
		return -ESRCH;
	fd = root_open__elsewhere(pid, name, &id, false);
	free(name);
	return fd;
}
