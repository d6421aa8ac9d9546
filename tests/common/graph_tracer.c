/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/graph_tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

/* Whether a word is in the only line of a file. */
static bool holds(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool found;

	if (!file)
		return false;
	found = fgets(line, sizeof(line), file) && strstr(line, word);
	fclose(file);
	return found;
}

/* Writes a line in place of those that are there (O_TRUNC) or behind them (O_APPEND). */
static int write_line(const char *path, int how, const char *line)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | how), err = 0;

	if (fd < 0)
		return -errno;
	if (*line && write(fd, line, strlen(line)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* The names differ by kernel; at least one has to be there, since none would stand for all. */
static int choose_functions(void)
{
	static const char *const names[] = { "hrtimer_nanosleep\n", "*pipe_read\n",
					     "futex_wait\n" };
	int err = write_line(TRACING "set_ftrace_filter", O_TRUNC, "");
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++)
		nr += !write_line(TRACING "set_ftrace_filter", O_APPEND, names[i]);
	return err || nr ? err : -ENOENT;
}

bool graph_tracer__exists(void)
{
	return holds(TRACING "available_tracers", "function_graph");
}

int graph_tracer__begin(void)
{
	int err;

	if (!holds(TRACING "current_tracer", "nop"))
		return -EBUSY;
	err = choose_functions();
	if (!err)
		err = write_line(TRACING "current_tracer", O_TRUNC, "function_graph\n");
	if (err)
		graph_tracer__end();
	return err;
}

void graph_tracer__end(void)
{
	if (holds(TRACING "current_tracer", "function_graph"))
		write_line(TRACING "current_tracer", O_TRUNC, "nop\n");
	write_line(TRACING "set_ftrace_filter", O_TRUNC, "");
}
