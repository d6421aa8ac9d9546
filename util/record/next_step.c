/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/next_step.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/command_name.h"
#include "base/shell_quote.h"

char *next_step__format(const struct next_step *step, char *buf, size_t size)
{
	char file[4 * PATH_MAX + 8], input[sizeof(file) + 8] = "", name[COMMAND_NAME_MAX];

	*buf = '\0';
	if (!step->path)
		return buf;
	if (step->empty) {
		snprintf(buf, size, "[ next: record again with -v, which tells the blocks that "
				    "were seen and why none counts ]");
		return buf;
	}
	shell_quote__path(step->path, file, sizeof(file));
	/* The default of both readers needs no name. */
	if (strcmp(step->path, "perf.data"))
		snprintf(input, sizeof(input), " -i %s", file);
	/* Only perf sorts by cgroup. */
	snprintf(buf, size, "[ next: %s%s%s ]", step->sudo ? "sudo " : "",
		 step->cgroups ? "perf report --no-children --sort cgroup,comm,sym" :
				 command_name__of("report", name, sizeof(name)),
		 input);
	return buf;
}
