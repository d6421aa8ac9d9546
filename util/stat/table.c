/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/table.h"

#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "base/units.h"
#include "stat/behaviour_table.h"
#include "stat/call_table.h"
#include "stat/object_table.h"

/* Control bytes of a name that a program gave itself take four columns. */
#define NAME_WIDTH (4 * STAT_COMM_LEN)

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* The states of blocks with their shares of the time, the greatest first: "S 97%, D 3%". */
static char *format_states(const struct stat_task *task, char *buf, size_t size)
{
	bool shown[STAT_STATE_MAX] = { false };
	size_t len = 0;
	int most;

	buf[0] = '\0';
	for (;;) {
		most = -1;
		for (int i = 0; i < STAT_STATE_MAX; i++) {
			if (!shown[i] && task->state[i].count &&
			    (most < 0 || task->state[i].total_ns > task->state[most].total_ns))
				most = i;
		}
		if (most < 0 || len >= size)
			return buf;
		shown[most] = true;
		if (len && percent(task->state[most].total_ns, task->offcpu.total_ns) < 0.5)
			return buf;
		len += (size_t)snprintf(buf + len, size - len, "%s%c %.0f%%", len ? ", " : "",
					STAT_STATES[most],
					percent(task->state[most].total_ns, task->offcpu.total_ns));
	}
}

static void print_times(const struct stat_times *times, FILE *out)
{
	char text[32];

	fprintf(out, " %9s", units__format_time(times->total_ns, text, sizeof(text)));
	fprintf(out, " %9" PRIu64, times->count);
	if (!times->count) {
		fprintf(out, " %9s %9s %9s %9s %9s", "-", "-", "-", "-", "-");
		return;
	}
	/* /proc tells sums alone. */
	if (!times->max_ns) {
		fprintf(out, " %9s %9s %9s %9s %9s",
			units__format_time(times->total_ns / times->count, text, sizeof(text)), "-",
			"-", "-", "-");
		return;
	}
	fprintf(out, " %9s",
		units__format_time(times->total_ns / times->count, text, sizeof(text)));
	fprintf(out, " %9s", units__format_time(times->min_ns, text, sizeof(text)));
	fprintf(out, " %9s",
		units__format_time(stat_times__quantile(times, 0.5), text, sizeof(text)));
	fprintf(out, " %9s",
		units__format_time(stat_times__quantile(times, 0.99), text, sizeof(text)));
	fprintf(out, " %9s", units__format_time(times->max_ns, text, sizeof(text)));
}

/* Shares of the wall time, then the lengths of blocks. */
static void print_task(const struct stat_task *task, const char *name, FILE *out)
{
	char states[64], ids[2][16] = { "", "" }, escaped[NAME_WIDTH];

	if (task->pid)
		snprintf(ids[0], sizeof(ids[0]), "%d", (int)task->pid);
	if (task->tid)
		snprintf(ids[1], sizeof(ids[1]), "%d", (int)task->tid);
	else if (task->threads)
		snprintf(ids[1], sizeof(ids[1]), "x%u", task->threads);
	log__escape(escaped, sizeof(escaped), name);
	fprintf(out, "%-16s %7s %7s %6.1f%% %6.1f%% %6.1f%%", escaped, ids[0], ids[1],
		percent(task->running_ns, task->wall_ns), percent(task->runnable_ns, task->wall_ns),
		percent(task->blocked_ns, task->wall_ns));
	print_times(&task->offcpu, out);
	fprintf(out, "  %s\n", format_states(task, states, sizeof(states)));
}

static void print_head(const char *title, FILE *out)
{
	fprintf(out, "\n%-16s %7s %7s %7s %7s %7s %9s %9s %9s %9s %9s %9s %9s  %s\n", title, "PID",
		"TID", "RUN", "QUEUED", "BLOCKED", "OFF-CPU", "BLOCKS", "AVERAGE", "SHORTEST",
		"P50", "P99", "LONGEST", "STATES");
}

static void print_more(size_t nr, unsigned int top, FILE *out)
{
	if (nr > top)
		fprintf(out, "(%zu more: --top)\n", nr - top);
}

static void print_tasks(const char *title, const struct stat_task *tasks, size_t nr,
			unsigned int top, FILE *out)
{
	if (!nr)
		return;
	print_head(title, out);
	for (size_t i = 0; i < nr && i < top; i++)
		print_task(&tasks[i], tasks[i].comm, out);
	print_more(nr, top, out);
}

static void print_title(const struct stat_data *data, FILE *out)
{
	char time[32];

	fprintf(out, "%s: %s, %u threads (%u of them ended) of %zu processes%s\n", log__program(),
		units__format_time(data->end_ns - data->start_ns, time, sizeof(time)),
		data->total.threads, data->total.ended_threads, data->nr_processes,
		data->from_proc ? ", by /proc" : "");
}

/* What is missing is said beside the figures that it is missing from. */
static void print_losses(const struct stat_losses *losses, FILE *out)
{
	const struct {
		uint64_t nr;
		const char *what;
	} all[] = {
		{ losses->threads, "ended threads found no room and are missing" },
		{ losses->calls, "system calls found no room and are missing" },
		{ losses->locks, "waits for futexes found no room and are missing there" },
		{ losses->files, "blocks found no room for the names of their files" },
		{ losses->sockets, "waits for sockets found no room and are missing there" },
		{ losses->requests, "requests of block devices found no room and are missing" },
		{ losses->missed_calls,
		  "entries or returns of system calls were not seen: those calls are missing" },
		{ losses->missed_births, "births of threads were not seen: those are missing" },
		{ losses->unseen_switches, "switches of threads without a place were not counted" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].nr)
			fprintf(out, "\nnote: %" PRIu64 " %s\n", all[i].nr, all[i].what);
	}
}

int stat_table__print(const struct stat_data *data, unsigned int top, FILE *out)
{
	errno = 0;
	print_title(data, out);
	print_head("ALL", out);
	print_task(&data->total, "all threads", out);
	if (stat_data__commands_differ(data))
		print_tasks("COMMAND", data->commands, data->nr_commands, top, out);
	if (data->nr_processes > 1)
		print_tasks("PROCESS", data->processes, data->nr_processes, top, out);
	if (stat_data__threads_differ(data))
		print_tasks("THREAD", data->threads, data->nr_threads, top, out);
	behaviour_table__print(data, top, out);
	if (data->parts & STAT_PART_CALLS)
		call_table__print(data, top, out);
	object_table__print(data, top, out);
	print_losses(&data->losses, out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
