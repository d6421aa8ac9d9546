/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/call_table.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/units.h"
#include "stat/syscall_category.h"
#include "stat/syscall_names.h"

/* Rows of calls for each process and thread, which are there to tell what it is about. */
#define CALLS_OF_TASK 3

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* The name, with the type of the file where that matters, and the table where it is another. */
static char *format_name(const struct stat_call *call, char *buf, size_t size)
{
	static const char *const files[STAT_FILE_MAX] = {
		[STAT_FILE_NONE] = "", [STAT_FILE_REGULAR] = "(file)",
		[STAT_FILE_SOCKET] = "(socket)", [STAT_FILE_PIPE] = "(pipe)",
		[STAT_FILE_OTHER] = "(other)",
	};
	static const char *const abis[STAT_ABI_MAX] = {
		[STAT_ABI_NATIVE] = "", [STAT_ABI_COMPAT] = "[32-bit]", [STAT_ABI_X32] = "[x32]",
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
static void print_figures(const struct stat_call *call, double seconds, uint64_t all_ns, FILE *out)
{
	const struct stat_times *times = &call->times;
	char text[32];

	fprintf(out, " %9" PRIu64, times->count);
	if (call->errors)
		fprintf(out, " %8" PRIu64, call->errors);
	else
		fprintf(out, " %8s", "");
	fprintf(out, " %9.1f", seconds > 0 ? (double)times->count / seconds : 0);
	if (!all_ns) {
		fprintf(out, " %9s %6s %7s", "-", "-", "-");
		return;
	}
	fprintf(out, " %9s %5.1f%%", units__format_time(times->total_ns, text, sizeof(text)),
		percent(times->total_ns, all_ns));
	fprintf(out, " %6.1f%%", percent(call->blocked_ns, times->total_ns));
}

static void print_times(const struct stat_times *times, FILE *out)
{
	char text[32];

	fprintf(out, " %9s",
		units__format_time(times->total_ns / times->count, text, sizeof(text)));
	fprintf(out, " %9s",
		units__format_time(stat_times__quantile(times, 0.5), text, sizeof(text)));
	fprintf(out, " %9s",
		units__format_time(stat_times__quantile(times, 0.99), text, sizeof(text)));
	fprintf(out, " %9s", units__format_time(times->max_ns, text, sizeof(text)));
}

static void print_call(const struct stat_call *call, double seconds, uint64_t all_ns, FILE *out)
{
	char text[64];

	fprintf(out, "%-24s", format_name(call, text, sizeof(text)));
	print_figures(call, seconds, all_ns, out);
	if (all_ns)
		print_times(&call->times, out);
	else
		fprintf(out, " %9s %9s %9s %9s", "-", "-", "-", "-");
	fprintf(out, "  %s\n", syscall_category__name(category_of(call)));
}

static uint64_t time_of(const struct stat_task *task)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < task->nr_calls; i++)
		ns += task->calls[i].times.total_ns;
	return ns;
}

static void print_head(const char *title, FILE *out)
{
	fprintf(out, "\n%-24s %9s %8s %9s %9s %6s %7s", title, "CALLS", "ERRORS", "PER SEC", "TIME",
		"SHARE", "BLOCKED");
}

static void print_calls(const struct stat_data *data, unsigned int top, double seconds, FILE *out)
{
	const struct stat_task *total = &data->total;

	print_head("SYSTEM CALL", out);
	fprintf(out, " %9s %9s %9s %9s  %s\n", "AVERAGE", "P50", "P99", "LONGEST", "CATEGORY");
	for (size_t i = 0; i < total->nr_calls && i < top; i++)
		print_call(&total->calls[i], seconds, time_of(total), out);
	if (total->nr_calls > top)
		fprintf(out, "(%zu more: --top)\n", total->nr_calls - top);
}

/* The category of a sum is its nr. Without times, by count. */
static int by_time(const void *a, const void *b)
{
	const struct stat_call *left = a, *right = b;

	if (left->times.total_ns != right->times.total_ns)
		return left->times.total_ns < right->times.total_ns ? 1 : -1;
	if (left->times.count != right->times.count)
		return left->times.count < right->times.count ? 1 : -1;
	return left->nr > right->nr ? 1 : -1;
}

static void print_categories(const struct stat_data *data, double seconds, FILE *out)
{
	struct stat_call sums[SYSCALL_CATEGORIES] = { { 0 } };
	const struct stat_task *total = &data->total;

	for (size_t i = 0; i < total->nr_calls; i++) {
		const struct stat_call *call = &total->calls[i];
		struct stat_call *sum = &sums[category_of(call)];

		sum->nr = category_of(call);
		sum->errors += call->errors;
		sum->blocked_ns += call->blocked_ns;
		stat_times__merge(&sum->times, &call->times);
	}
	qsort(sums, SYSCALL_CATEGORIES, sizeof(*sums), by_time);
	print_head("CATEGORY", out);
	fputc('\n', out);
	for (int i = 0; i < SYSCALL_CATEGORIES; i++) {
		if (!sums[i].times.count)
			continue;
		fprintf(out, "%-24s",
			syscall_category__name((enum syscall_category)sums[i].nr));
		print_figures(&sums[i], seconds, time_of(total), out);
		fputc('\n', out);
	}
}

/* The calls in which a thread, process or command that has any spent most of its time. */
static void print_owner(const struct stat_task *task, double seconds, FILE *out)
{
	char comm[64], name[64];
	uint64_t all = time_of(task);

	log__escape(comm, sizeof(comm), task->comm);
	fprintf(out, "%s", comm);
	if (task->pid || task->tid)
		fprintf(out, " %d", (int)(task->tid ? task->tid : task->pid));
	fputc('\n', out);
	for (size_t i = 0; i < task->nr_calls && i < CALLS_OF_TASK; i++) {
		fprintf(out, "  %-22s", format_name(&task->calls[i], name, sizeof(name)));
		print_figures(&task->calls[i], seconds, all, out);
		fputc('\n', out);
	}
}

static void print_owners(const char *title, const struct stat_task *tasks, size_t nr,
			 unsigned int top, double seconds, FILE *out)
{
	size_t rows = 0;

	if (nr < 2)
		return;
	print_head(title, out);
	fputc('\n', out);
	/* Tasks are in the order of their time off the CPU: many may be idle in a single call. */
	for (size_t i = 0; i < nr; i++) {
		if (tasks[i].nr_calls && rows++ < top)
			print_owner(&tasks[i], seconds, out);
	}
	if (rows > top)
		fprintf(out, "(%zu more: --top)\n", rows - top);
}

static void print_open(const struct stat_data *data, unsigned int top, FILE *out)
{
	char text[64], time[32];

	if (!data->nr_open_calls)
		return;
	fprintf(out, "\n%-24s %9s  %-16s %7s\n", "HAS NOT RETURNED", "SINCE", "COMMAND", "TID");
	for (size_t i = 0; i < data->nr_open_calls && i < top; i++) {
		const struct stat_open_call *open = &data->open_calls[i];
		const struct stat_call call = { .nr = open->nr, .abi = open->abi,
						.file = open->file };

		fprintf(out, "%-24s %9s", format_name(&call, text, sizeof(text)),
			units__format_time(open->ns, time, sizeof(time)));
		log__escape(text, sizeof(text), open->comm);
		fprintf(out, "  %-16s %7d\n", text, (int)open->tid);
	}
	if (data->nr_open_calls > top)
		fprintf(out, "(%zu more: --top)\n", data->nr_open_calls - top);
}

void call_table__print(const struct stat_data *data, unsigned int top, FILE *out)
{
	double seconds = (double)(data->end_ns - data->start_ns) / NSEC_PER_SEC;

	print_calls(data, top, seconds, out);
	print_categories(data, seconds, out);
	if (stat_data__commands_differ(data))
		print_owners("CALLS BY COMMAND", data->commands, data->nr_commands, top, seconds,
			     out);
	print_owners("CALLS BY PROCESS", data->processes, data->nr_processes, top, seconds, out);
	if (stat_data__threads_differ(data))
		print_owners("CALLS BY THREAD", data->threads, data->nr_threads, top, seconds, out);
	print_open(data, top, out);
}
