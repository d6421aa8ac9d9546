/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/out_stream.h"
#include "base/units.h"
#include "stat/behaviour_table.h"
#include "stat/call_table.h"
#include "stat/object_table.h"
#include "stat/stat_rows.h"

/* The states of blocks with their shares of the time, the greatest first: "S 97%, D 3%". */
static char *format_states(const struct stat_task *task, char *buf, size_t size)
{
	bool shown[STAT_STATE_MAX] = { false };
	size_t len = 0;
	double percent;
	int most;

	buf[0] = '\0';
	for (;;) {
		most = -1;
		for (int i = 0; i < STAT_STATE_MAX; i++) {
			if (!shown[i] && stat_times__any(&task->state[i]) &&
			    (most < 0 || task->state[i].total_ns > task->state[most].total_ns))
				most = i;
		}
		if (most < 0 || len >= size)
			return buf;
		shown[most] = true;
		percent = units__percent(task->state[most].total_ns, task->offcpu.total_ns);
		if (len && percent < 0.5)
			return buf;
		len += (size_t)snprintf(buf + len, size - len, "%s%c %.0f%%", len ? ", " : "",
					STAT_STATES[most], percent);
	}
}

static const struct text_column task_columns[] = {
	{ "", COLUMN_TEXT, 0 },          { "PID", COLUMN_NUMBER, 0 },
	{ "TID", COLUMN_NUMBER, 0 },     { "RUN", COLUMN_NUMBER, 0 },
	{ "QUEUED", COLUMN_NUMBER, 0 },  { "BLOCKED", COLUMN_NUMBER, 0 },
	{ "OFF-CPU", COLUMN_NUMBER, 0 }, { "BLOCKS", COLUMN_NUMBER, 3 },
	{ "AVERAGE", COLUMN_NUMBER, 4 }, { "SHORTEST", COLUMN_NUMBER, 6 },
	{ "P50", COLUMN_NUMBER, 5 },     { "P99", COLUMN_NUMBER, 2 },
	{ "LONGEST", COLUMN_NUMBER, 0 }, { "STATES", COLUMN_TEXT, 1 },
};

static void put_times(struct stat_rows *rows, const struct stat_times *times)
{
	stat_rows__put_time(rows, times->total_ns);
	stat_rows__put(rows, "%" PRIu64, times->count);
	if (!times->count) {
		stat_rows__fill(rows, 5, "-");
		return;
	}
	stat_rows__put_time(rows, times->total_ns / times->count);
	/* /proc tells sums alone. */
	if (!times->max_ns) {
		stat_rows__fill(rows, 4, "-");
		return;
	}
	stat_rows__put_time(rows, times->min_ns);
	stat_rows__put_time(rows, stat_times__quantile(times, 0.5));
	stat_rows__put_time(rows, stat_times__quantile(times, 0.99));
	stat_rows__put_time(rows, times->max_ns);
}

static void put_ids(struct stat_rows *rows, const struct stat_task *task)
{
	if (task->pid)
		stat_rows__put(rows, "%d", (int)task->pid);
	else
		stat_rows__fill(rows, 1, "");
	if (task->tid)
		stat_rows__put(rows, "%d", (int)task->tid);
	else if (task->threads)
		stat_rows__put(rows, "x%u", task->threads);
	else
		stat_rows__fill(rows, 1, "");
}

/* Shares of the wall time, then the lengths of blocks. */
static void put_task(struct stat_rows *rows, const struct stat_task *task, const char *name)
{
	char states[64];

	stat_rows__put(rows, "%s", name);
	put_ids(rows, task);
	stat_rows__put_share(rows, task->running_ns, task->wall_ns);
	stat_rows__put_share(rows, task->runnable_ns, task->wall_ns);
	stat_rows__put_share(rows, task->blocked_ns, task->wall_ns);
	put_times(rows, &task->offcpu);
	stat_rows__put(rows, "%s", format_states(task, states, sizeof(states)));
	stat_rows__end_row(rows);
}

/* name: of all rows; NULL: they have their own. */
static int print_tasks(const char *title, const char *name, const struct stat_task *tasks,
		       size_t nr, const struct stat_form *form, FILE *out)
{
	struct text_column columns[sizeof(task_columns) / sizeof(task_columns[0])];
	struct stat_rows rows;
	size_t i;

	if (!nr)
		return 0;
	memcpy(columns, task_columns, sizeof(columns));
	columns[0].heading = title;
	STAT_ROWS_BEGIN(&rows, columns);
	for (i = 0; i < nr && i < form->top; i++)
		put_task(&rows, &tasks[i], name ? name : tasks[i].comm);
	return stat_rows__print(&rows, form, nr - i, out);
}

/* A row without a PID is of further processes. */
static bool has_others(const struct stat_data *data)
{
	for (size_t i = 0; i < data->nr_processes; i++) {
		if (!data->processes[i].pid)
			return true;
	}
	return false;
}

static void print_title(const struct stat_data *data, FILE *out)
{
	bool others = has_others(data);
	size_t processes = data->nr_processes - others;
	char time[32];

	fprintf(out, "%s: %s, %u %s", log__program(),
		units__format_time(data->end_ns - data->start_ns, time, sizeof(time)),
		data->total.threads, data->total.threads == 1 ? "thread" : "threads");
	if (data->total.ended_threads)
		fprintf(out, " (%u ended)", data->total.ended_threads);
	fprintf(out, " of %s%zu %s%s\n", others ? "more than " : "", processes,
		processes == 1 ? "process" : "processes", data->from_proc ? ", by /proc" : "");
}

/* What is missing is said beside the figures that it is missing from. */
static void print_losses(const struct stat_losses *losses, FILE *out)
{
	const struct {
		uint64_t nr;
		const char *what;
	} all[] = {
		{ losses->threads,
		  "ended threads are missing (no room, or their last switch came too late)" },
		{ losses->calls, "system calls without room are missing" },
		{ losses->locks, "waits for futexes without room are missing there" },
		{ losses->files, "blocks without room for the names of their files" },
		{ losses->sockets, "waits for sockets without room are missing there" },
		{ losses->requests, "block device requests are missing (no room, or not seen)" },
		{ losses->missed_calls,
		  "system calls whose entry or return was not seen are missing" },
		{ losses->missed_births, "threads whose birth was not seen are missing" },
		{ losses->unseen_switches,
		  "switches were not counted (not seen, or of threads without a place)" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].nr)
			fprintf(out, "\nnote: %s: %" PRIu64 "\n", all[i].what, all[i].nr);
	}
}

static int print_all_tasks(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	int err = print_tasks("ALL", "all threads", &data->total, 1, form, out);

	if (!err && stat_data__commands_differ(data))
		err = print_tasks("COMMAND", NULL, data->commands, data->nr_commands, form, out);
	if (!err && data->nr_processes > 1)
		err = print_tasks("PROCESS", NULL, data->processes, data->nr_processes, form, out);
	if (!err && stat_data__threads_differ(data))
		err = print_tasks("THREAD", NULL, data->threads, data->nr_threads, form, out);
	return err;
}

int stat_table__print(const struct stat_data *data, const struct base_interval *base,
		      const struct stat_form *form, FILE *out)
{
	int err;

	errno = 0;
	print_title(data, out);
	base_metrics__print(&base->now, &base->before, data->end_ns - data->start_ns,
			    form->table.width, out);
	err = print_all_tasks(data, form, out);
	behaviour_table__print(data, form->top, out);
	if (!err && data->parts & STAT_PART_CALLS)
		err = call_table__print(data, form, out);
	if (!err)
		err = object_table__print(data, form, out);
	print_losses(&data->losses, out);
	if (!err)
		err = out_stream__flush(out);
	return err;
}
