/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/next_step.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Characters that a shell needs no quotes for. */
static bool is_plain(const char *path)
{
	for (const char *p = path; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("/._-+,:@%", *p))
			return false;
	}
	return *path && *path != '-';
}

/* As $'...', which every byte can be written in: a terminal is to see none of its own. */
static void quote(const char *path, char *buf, size_t size)
{
	size_t n;

	if (is_plain(path)) {
		snprintf(buf, size, "%s", path);
		return;
	}
	n = (size_t)snprintf(buf, size, "$'%s", *path == '-' ? "./" : "");
	for (const unsigned char *p = (const unsigned char *)path; *p && n < size; p++) {
		if (*p == '\'' || *p == '\\')
			n += (size_t)snprintf(buf + n, size - n, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			n += (size_t)snprintf(buf + n, size - n, "\\%03o", *p);
		else
			n += (size_t)snprintf(buf + n, size - n, "%c", *p);
	}
	if (n < size)
		snprintf(buf + n, size - n, "'");
}

char *next_step__format(const struct next_step *step, char *buf, size_t size)
{
	char file[4 * PATH_MAX + 8], input[sizeof(file) + 8] = "";

	*buf = '\0';
	if (!step->path)
		return buf;
	if (step->empty) {
		snprintf(buf, size, "[ next: record again with -v, which tells the blocks that "
				    "were seen and why none counts ]");
		return buf;
	}
	quote(step->path, file, sizeof(file));
	/* perf's own default needs no name. */
	if (strcmp(step->path, "perf.data"))
		snprintf(input, sizeof(input), "-i %s ", file);
	snprintf(buf, size, "[ next: %sperf report %s--no-children%s ]", step->sudo ? "sudo " : "",
		 input, step->cgroups ? " --sort cgroup,comm,sym" : "");
	return buf;
}
