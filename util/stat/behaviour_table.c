/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/behaviour_table.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/units.h"
#include "stat/behaviour.h"
#include "stat/bottlenecks.h"

/* Control bytes of a name that a program gave itself take four columns. */
#define NAME_WIDTH (4 * STAT_COMM_LEN)

struct row {
	const struct stat_task *task;
	struct behaviour behaviour;
};

/* The class of a task, with what it did while it was not idle. */
static void print_row(const struct behaviour *behaviour, const char *name, FILE *out)
{
	char escaped[NAME_WIDTH];
	bool first = true;
	double percent;

	log__escape(escaped, sizeof(escaped), name);
	fprintf(out, "%-16s %-14s active %.0f%%", escaped, behaviour__name(behaviour->kind),
		units__percent(behaviour->active_ns, behaviour->wall_ns));
	for (int i = 0; i < BEHAVIOUR_TIMES; i++) {
		percent = units__percent(behaviour->ns[i], behaviour->active_ns);
		if (i == BEHAVIOUR_IDLING || percent < 1)
			continue;
		fprintf(out, "%s %s %.0f%%", first ? ":" : ",",
			behaviour__time_name((enum behaviour_time)i), percent);
		first = false;
	}
	fputc('\n', out);
}

static int by_active_time(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->behaviour.active_ns != right->behaviour.active_ns)
		return left->behaviour.active_ns < right->behaviour.active_ns ? 1 : -1;
	/* The commands are in the order of their time off the CPU. */
	return left->task > right->task ? 1 : left->task < right->task ? -1 : 0;
}

/* A command that is idle has a long time off the CPU, but nothing to be told about. */
static void print_commands(const struct stat_data *data, unsigned int top, FILE *out)
{
	size_t nr = data->nr_commands;
	struct row *rows = nr > 1 ? calloc(nr, sizeof(*rows)) : NULL;

	if (!rows)
		return;
	for (size_t i = 0; i < nr; i++) {
		rows[i].task = &data->commands[i];
		rows[i].behaviour = behaviour__of(data, rows[i].task);
	}
	qsort(rows, nr, sizeof(*rows), by_active_time);
	for (size_t i = 0; i < nr && i < top; i++)
		print_row(&rows[i].behaviour, rows[i].task->comm, out);
	if (nr > top)
		fprintf(out, "(%zu more: --top)\n", nr - top);
	free(rows);
}

/* What would tell more of the time that is unknown. */
static void print_advice(const struct stat_data *data, const struct behaviour *all, FILE *out)
{
	bool may_tell = (data->parts & STAT_PART_CALL_TIMES) && !(data->parts & STAT_PART_LOCKS);

	if (may_tell &&
	    units__percent(all->ns[BEHAVIOUR_UNKNOWN], all->active_ns) >= BEHAVIOUR_BOUND_FROM)
		fprintf(out, "(unknown: waits for locks, or for work; --locks tells them apart)\n");
}

void behaviour_table__print(const struct stat_data *data, unsigned int top, FILE *out)
{
	const struct behaviour all = behaviour__of(data, &data->total);
	struct bottlenecks bottlenecks;
	char escaped[4 * BOTTLENECK_LEN];

	if (!data->total.threads)
		return;
	fprintf(out, "\nBEHAVIOUR\n");
	print_row(&all, "all threads", out);
	print_commands(data, top, out);
	print_advice(data, &all, out);
	bottlenecks__find(data, &bottlenecks);
	for (size_t i = 0; i < bottlenecks.nr; i++) {
		log__escape(escaped, sizeof(escaped), bottlenecks.text[i]);
		fprintf(out, "%s\n", escaped);
	}
}
