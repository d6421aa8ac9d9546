/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/json_ebpf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/units.h"
#include "stat/bottlenecks.h"
#include "stat/syscall_category.h"
#include "stat/syscall_names.h"

/* Of each of denet's lists of the greatest. */
#define TOP 10

/* A call by its name, whatever its table and the type of its file. */
struct named_call {
	char name[SYSCALL_NAME_LEN];
	uint64_t count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_call *)a)->name, ((const struct named_call *)b)->name);
}

static int by_count(const void *a, const void *b)
{
	const struct named_call *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return strcmp(one->name, other->name);
}

/* Adds up neighbours of one name. How many are left. */
static size_t merge(struct named_call *calls, size_t nr)
{
	size_t kept = 0;

	qsort(calls, nr, sizeof(*calls), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !by_name(&calls[kept - 1], &calls[i]))
			calls[kept - 1].count += calls[i].count;
		else
			calls[kept++] = calls[i];
	}
	qsort(calls, kept, sizeof(*calls), by_count);
	return kept;
}

static void put_categories(const uint64_t counts[SYSCALL_CATEGORIES], FILE *out)
{
	const char *comma = "";

	fputs(",\"by_category\":{", out);
	for (int i = 0; i < SYSCALL_CATEGORIES; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s\"%s\":%" PRIu64, comma,
			syscall_category__name((enum syscall_category)i), counts[i]);
		comma = ",";
	}
	fputs("}", out);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void put_analysis(const struct stat_data *data, const uint64_t counts[SYSCALL_CATEGORIES],
			 uint64_t total, FILE *out)
{
	double seconds = (double)(data->end_ns - data->start_ns) / (double)NSEC_PER_SEC;

	fprintf(out,
		",\"analysis\":{\"syscall_rate_per_sec\":%.3f,\"io_intensity\":%.6f,"
		"\"memory_intensity\":%.6f,\"cpu_intensity\":%.6f,\"network_intensity\":%.6f}",
		seconds > 0 ? (double)total / seconds : 0, share(counts[SYSCALL_FILE_IO], total),
		share(counts[SYSCALL_MEMORY], total), share(counts[SYSCALL_PROCESS], total),
		share(counts[SYSCALL_NETWORK], total));
}

static int put_syscalls(const struct stat_data *data, FILE *out)
{
	const struct stat_task *all = &data->total;
	struct named_call *calls = calloc(all->nr_calls + 1, sizeof(*calls));
	uint64_t counts[SYSCALL_CATEGORIES] = { 0 }, total = 0;
	size_t nr;

	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr_calls; i++) {
		const struct stat_call *call = &all->calls[i];

		syscall_names__put(call->abi, call->nr, calls[i].name);
		calls[i].count = call->times.count;
		total += call->times.count;
		counts[syscall_category__of(calls[i].name, call->file)] += call->times.count;
	}
	nr = merge(calls, all->nr_calls);
	fprintf(out, "\"syscalls\":{\"total\":%" PRIu64, total);
	put_categories(counts, out);
	fputs(",\"top_syscalls\":[", out);
	for (size_t i = 0; i < nr && i < TOP; i++)
		fprintf(out, "%s{\"name\":\"%s\",\"count\":%" PRIu64 "}", i ? "," : "",
			calls[i].name, calls[i].count);
	fputs("]", out);
	put_analysis(data, counts, total, out);
	fputs("},", out);
	free(calls);
	return 0;
}

static uint64_t average(const struct stat_times *times)
{
	return times->count ? times->total_ns / times->count : 0;
}

static void put_threads(const struct stat_data *data, FILE *out)
{
	fputs(",\"thread_stats\":{", out);
	for (size_t i = 0; i < data->nr_threads; i++) {
		const struct stat_task *thread = &data->threads[i];
		const struct stat_times *times = &thread->offcpu;

		fprintf(out,
			"%s\"%d:%d\":{\"tid\":%d,\"total_time_ns\":%" PRIu64 ",\"count\":%" PRIu64
			",\"avg_time_ns\":%" PRIu64 ",\"max_time_ns\":%" PRIu64
			",\"min_time_ns\":%" PRIu64 "}",
			i ? "," : "", thread->pid, thread->tid, thread->tid, times->total_ns,
			times->count, average(times), times->max_ns, times->min_ns);
	}
	fputs("}", out);
}

/* The threads are sorted by their off-CPU time. */
static void put_top_threads(const struct stat_data *data, FILE *out)
{
	uint64_t all = data->total.offcpu.total_ns;

	fputs(",\"top_blocking_threads\":[", out);
	for (size_t i = 0; i < data->nr_threads && i < TOP; i++) {
		const struct stat_task *thread = &data->threads[i];
		uint64_t ns = thread->offcpu.total_ns;

		fprintf(out, "%s{\"tid\":%d,\"pid\":%d,\"time_ms\":%.6f,\"percentage\":%.2f}",
			i ? "," : "", thread->tid, thread->pid, (double)ns / (double)NSEC_PER_MSEC,
			100 * share(ns, all));
	}
	fputs("]", out);
}

static void put_bottlenecks(const struct stat_data *data, FILE *out)
{
	struct bottlenecks bottlenecks;

	bottlenecks__find(data, &bottlenecks);
	fputs(",\"bottlenecks\":[", out);
	for (size_t i = 0; i < bottlenecks.nr; i++) {
		fputs(i ? "," : "", out);
		json_text__print(bottlenecks.text[i], out);
	}
	fputs("]", out);
}

static void put_offcpu(const struct stat_data *data, FILE *out)
{
	const struct stat_times *times = &data->total.offcpu;

	fprintf(out,
		"\"offcpu\":{\"total_time_ns\":%" PRIu64 ",\"total_events\":%" PRIu64
		",\"avg_time_ns\":%" PRIu64 ",\"max_time_ns\":%" PRIu64 ",\"min_time_ns\":%" PRIu64,
		times->total_ns, times->count, average(times), times->max_ns, times->min_ns);
	put_threads(data, out);
	put_top_threads(data, out);
	put_bottlenecks(data, out);
	fputs(",\"stack_traces\":[]}", out);
}

int json_ebpf__put(const struct stat_data *data, FILE *out)
{
	int err = 0;

	fputs("{", out);
	if (data->parts & STAT_PART_CALLS)
		err = put_syscalls(data, out);
	put_offcpu(data, out);
	if (data->error) {
		fputs(",\"error\":", out);
		json_text__print(data->error, out);
	}
	fputs("}", out);
	return err;
}
