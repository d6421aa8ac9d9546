/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/call_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "stat/order.h"
#include "stat/stat_rows.h"
#include "stat/syscall_category.h"
#include "stat/syscall_names.h"

/* Rows of calls for each process and thread, which are there to tell what it is about. */
#define CALLS_OF_TASK 3

/* The time of calls is known from their entries. */
static const struct text_column call_columns[] = {
	{ "SYSTEM CALL", COLUMN_TEXT, 0 }, { "CALLS", COLUMN_NUMBER, 0 },
	{ "ERRORS", COLUMN_NUMBER, 0 },    { "PER SEC", COLUMN_NUMBER, 2 },
	{ "TIME", COLUMN_NUMBER, 0 },      { "SHARE", COLUMN_NUMBER, 0 },
	{ "BLOCKED", COLUMN_NUMBER, 0 },   { "AVERAGE", COLUMN_NUMBER, 0 },
	{ "P50", COLUMN_NUMBER, 4 },       { "P99", COLUMN_NUMBER, 3 },
	{ "LONGEST", COLUMN_NUMBER, 1 },   { "CATEGORY", COLUMN_TEXT, 5 },
};

/* The columns that rows of sums have as well. */
#define FIGURES 7

/* The name, with the type of the file where that matters, and the table where it is another. */
static char *format_name(const struct stat_call *call, char *buf, size_t size)
{
	static const char *const files[STAT_FILE_MAX] = {
		[STAT_FILE_NONE] = "",           [STAT_FILE_REGULAR] = "(file)",
		[STAT_FILE_SOCKET] = "(socket)", [STAT_FILE_PIPE] = "(pipe)",
		[STAT_FILE_OTHER] = "(other)",
	};
	static const char *const abis[STAT_ABI_MAX] = {
		[STAT_ABI_NATIVE] = "",
		[STAT_ABI_COMPAT] = "[32-bit]",
		[STAT_ABI_X32] = "[x32]",
	};
	char name[SYSCALL_NAME_LEN];

	snprintf(buf, size, "%s%s%s", syscall_names__put(call->abi, call->nr, name),
		 files[call->file], abis[call->abi]);
	return buf;
}

static enum syscall_category category_of(const struct stat_call *call)
{
	char name[SYSCALL_NAME_LEN];

	return syscall_category__of(syscall_names__put(call->abi, call->nr, name), call->file);
}

/* all_ns is the time of all calls; 0: times are not known. */
static void put_figures(struct stat_rows *rows, const struct stat_call *call, double seconds,
			uint64_t all_ns)
{
	const struct stat_times *times = &call->times;

	stat_rows__put(rows, "%" PRIu64, times->count);
	if (call->errors)
		stat_rows__put(rows, "%" PRIu64, call->errors);
	else
		stat_rows__fill(rows, 1, "");
	stat_rows__put(rows, "%.1f", seconds > 0 ? (double)times->count / seconds : 0);
	if (!all_ns) {
		stat_rows__fill(rows, 3, "-");
		return;
	}
	stat_rows__put_time(rows, times->total_ns);
	stat_rows__put_share(rows, times->total_ns, all_ns);
	stat_rows__put_share(rows, call->blocked_ns, times->total_ns);
}

static void put_call(struct stat_rows *rows, const struct stat_call *call, double seconds,
		     uint64_t all_ns)
{
	const struct stat_times *times = &call->times;
	char text[64];

	stat_rows__put(rows, "%s", format_name(call, text, sizeof(text)));
	put_figures(rows, call, seconds, all_ns);
	if (all_ns) {
		stat_rows__put_time(rows, times->total_ns / times->count);
		stat_rows__put_time(rows, stat_times__quantile(times, 0.5));
		stat_rows__put_time(rows, stat_times__quantile(times, 0.99));
		stat_rows__put_time(rows, times->max_ns);
	} else {
		stat_rows__fill(rows, 4, "-");
	}
	stat_rows__put(rows, "%s", syscall_category__name(category_of(call)));
	stat_rows__end_row(rows);
}

static uint64_t time_of(const struct stat_task *task)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < task->nr_calls; i++)
		ns += task->calls[i].times.total_ns;
	return ns;
}

static int print_calls(const struct stat_data *data, const struct stat_form *form, double seconds,
		       FILE *out)
{
	const struct stat_task *total = &data->total;
	struct stat_rows rows;
	size_t i;

	STAT_ROWS_BEGIN(&rows, call_columns);
	for (i = 0; i < total->nr_calls && i < form->top; i++)
		put_call(&rows, &total->calls[i], seconds, time_of(total));
	return stat_rows__print(&rows, form, total->nr_calls - i, out);
}

static void begin_sums(struct stat_rows *rows, struct text_column columns[FIGURES],
		       const char *title)
{
	memcpy(columns, call_columns, FIGURES * sizeof(*columns));
	columns[0].heading = title;
	stat_rows__begin(rows, columns, FIGURES);
}

/* The category of a sum is its nr. */
static int print_categories(const struct stat_data *data, const struct stat_form *form,
			    double seconds, FILE *out)
{
	struct stat_call sums[SYSCALL_CATEGORIES] = { { 0 } };
	struct text_column columns[FIGURES];
	struct stat_rows rows;
	const struct stat_task *total = &data->total;

	for (size_t i = 0; i < total->nr_calls; i++) {
		const struct stat_call *call = &total->calls[i];
		struct stat_call *sum = &sums[category_of(call)];

		sum->nr = category_of(call);
		sum->errors += call->errors;
		sum->blocked_ns += call->blocked_ns;
		stat_times__merge(&sum->times, &call->times);
	}
	order__calls(sums, SYSCALL_CATEGORIES);
	begin_sums(&rows, columns, "CATEGORY");
	for (int i = 0; i < SYSCALL_CATEGORIES; i++) {
		if (!sums[i].times.count)
			continue;
		stat_rows__put(&rows, "%s",
			       syscall_category__name((enum syscall_category)sums[i].nr));
		put_figures(&rows, &sums[i], seconds, time_of(total));
		stat_rows__end_row(&rows);
	}
	return stat_rows__print(&rows, form, 0, out);
}

/* The calls in which a thread, process or command that has any spent most of its time. */
static void put_owner(struct stat_rows *rows, const struct stat_task *task, double seconds)
{
	char name[64];

	if (task->pid || task->tid)
		stat_rows__put(rows, "%s %d", task->comm, (int)(task->tid ? task->tid : task->pid));
	else
		stat_rows__put(rows, "%s", task->comm);
	stat_rows__end_row(rows);
	for (size_t i = 0; i < task->nr_calls && i < CALLS_OF_TASK; i++) {
		stat_rows__put(rows, "  %s", format_name(&task->calls[i], name, sizeof(name)));
		put_figures(rows, &task->calls[i], seconds, time_of(task));
		stat_rows__end_row(rows);
	}
}

static int print_owners(const char *title, const struct stat_task *tasks, size_t nr,
			const struct stat_form *form, double seconds, FILE *out)
{
	struct text_column columns[FIGURES];
	struct stat_rows rows;
	size_t shown = 0;

	if (nr < 2)
		return 0;
	begin_sums(&rows, columns, title);
	/* Tasks are in the order of their time off the CPU: many may be idle in a single call. */
	for (size_t i = 0; i < nr; i++) {
		if (tasks[i].nr_calls && shown++ < form->top)
			put_owner(&rows, &tasks[i], seconds);
	}
	return stat_rows__print(&rows, form, shown > form->top ? shown - form->top : 0, out);
}

static int print_open(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	static const struct text_column columns[] = {
		{ "HAS NOT RETURNED", COLUMN_TEXT, 0 },
		{ "SINCE", COLUMN_NUMBER, 0 },
		{ "COMMAND", COLUMN_TEXT, 0 },
		{ "TID", COLUMN_NUMBER, 0 },
	};
	struct stat_rows rows;
	char text[64];
	size_t i;

	if (!data->nr_open_calls)
		return 0;
	STAT_ROWS_BEGIN(&rows, columns);
	for (i = 0; i < data->nr_open_calls && i < form->top; i++) {
		const struct stat_open_call *open = &data->open_calls[i];
		const struct stat_call call = { .nr = open->nr,
						.abi = open->abi,
						.file = open->file };

		stat_rows__put(&rows, "%s", format_name(&call, text, sizeof(text)));
		stat_rows__put_time(&rows, open->ns);
		stat_rows__put(&rows, "%s", open->comm);
		stat_rows__put(&rows, "%d", (int)open->tid);
		stat_rows__end_row(&rows);
	}
	return stat_rows__print(&rows, form, data->nr_open_calls - i, out);
}

/* Sums of the calls that have returned. */
static int print_sums(const struct stat_data *data, const struct stat_form *form, double seconds,
		      FILE *out)
{
	int err = print_categories(data, form, seconds, out);

	if (!err && stat_data__commands_differ(data))
		err = print_owners("CALLS BY COMMAND", data->commands, data->nr_commands, form,
				   seconds, out);
	if (!err)
		err = print_owners("CALLS BY PROCESS", data->processes, data->nr_processes, form,
				   seconds, out);
	if (!err && stat_data__threads_differ(data))
		err = print_owners("CALLS BY THREAD", data->threads, data->nr_threads, form,
				   seconds, out);
	return err;
}

int call_table__print(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	double seconds = (double)(data->end_ns - data->start_ns) / NSEC_PER_SEC;
	int err = print_calls(data, form, seconds, out);

	if (!data->total.nr_calls)
		fputs("(none)\n", out);
	else if (!err)
		err = print_sums(data, form, seconds, out);
	return err ? err : print_open(data, form, out);
}
