/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/command_name.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/shell_quote.h"

#define LINK "denet-"

/* What stands in front of a command's name. */
static char prefix[4 * PATH_MAX + 16] = LINK;

void command_name__set_called(const char *argv0)
{
	const char *slash = strrchr(argv0, '/'), *base = slash ? slash + 1 : argv0;
	bool is_link = !strncmp(base, LINK, strlen(LINK));
	char path[PATH_MAX], quoted[4 * PATH_MAX + 8] = "";

	if (!strcmp(base, "perf-denet")) {
		snprintf(prefix, sizeof(prefix), "perf denet ");
		return;
	}
	/* Of a link the directory, else all of it. */
	snprintf(path, sizeof(path), "%.*s", is_link ? (int)(base - argv0) : PATH_MAX - 1, argv0);
	if (*path)
		shell_quote__path(path, quoted, sizeof(quoted));
	snprintf(prefix, sizeof(prefix), "%s%s", quoted, is_link ? LINK : " ");
}

char *command_name__of(const char *command, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", prefix, command);
	return buf;
}
