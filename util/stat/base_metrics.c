/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/base_metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"

#define DEFAULT_WIDTH 80

static void take_sum(struct base_metrics *base, const struct proc_metrics_row *sum,
		     unsigned int processes)
{
	const struct proc_metrics_row last = base->sum;

	base->sum = *sum;
	if (sum->mem_rss_kb) {
		base->processes = processes;
		base_metrics__raise_peak(base, sum->mem_rss_kb);
		return;
	}
	/* A process that has ended has no memory any more: what it had last tells more. */
	base->sum.mem_rss_kb = last.mem_rss_kb;
	base->sum.mem_vms_kb = last.mem_vms_kb;
	base->sum.threads = last.threads;
	base->sum.uptime_secs = max_u64(sum->uptime_secs, last.uptime_secs);
}

void base_metrics__take(struct base_metrics *base, const struct proc_metrics_sample *sample)
{
	take_sum(base, &sample->total, sample->processes);
	base->pressure = sample->pressure;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void add_row(struct proc_metrics_row *sum, const struct proc_metrics_row *row)
{
	sum->mem_rss_kb += row->mem_rss_kb;
	sum->mem_vms_kb += row->mem_vms_kb;
	sum->has_io |= row->has_io;
	sum->disk_read_bytes += row->disk_read_bytes;
	sum->disk_write_bytes += row->disk_write_bytes;
	sum->page_faults_cached += row->page_faults_cached;
	sum->page_faults_disk += row->page_faults_disk;
	sum->threads += row->threads;
	sum->uptime_secs = max_u64(sum->uptime_secs, row->uptime_secs);
}

void base_metrics__take_known(struct base_metrics *base, const struct proc_metrics_sample *sample,
			      const struct stat_data *data)
{
	struct proc_metrics_row sum = { 0 };
	pid_t *pids = calloc(data->nr_processes + 1, sizeof(*pids));
	unsigned int processes = 0;
	size_t i;

	if (!pids)
		return;
	for (i = 0; i < data->nr_processes; i++)
		pids[i] = data->processes[i].pid;
	qsort(pids, data->nr_processes, sizeof(*pids), by_pid);
	/* The first process comes last here, if there is one. */
	for (i = 0; i < sample->nr_children + sample->has_parent; i++) {
		const struct proc_metrics_row *row =
			i < sample->nr_children ? &sample->children[i] : &sample->parent;

		if (!bsearch(&row->pid, pids, data->nr_processes, sizeof(*pids), by_pid))
			continue;
		add_row(&sum, row);
		processes++;
	}
	free(pids);
	sum.cpu_ns = data->total.running_ns;
	sum.net_rx_bytes = sample->total.net_rx_bytes;
	sum.net_tx_bytes = sample->total.net_tx_bytes;
	take_sum(base, &sum, processes);
	base->pressure = sample->pressure;
}

void base_metrics__raise_peak(struct base_metrics *base, uint64_t kb)
{
	base->peak_kb = max_u64(base->peak_kb, kb);
}

/* Items with commas between them, which are kept whole where lines break. */
struct line {
	FILE *out;
	size_t width, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
	char item[128];
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(item, sizeof(item), format, args);
	va_end(args);
	len = strlen(item);
	/* A comma follows, or the end. */
	if (line->used && line->used + 2 + len + 1 > line->width) {
		fputs(",\n", line->out);
		line->used = 0;
	} else if (line->used) {
		fputs(", ", line->out);
		line->used += 2;
	}
	fputs(item, line->out);
	line->used += len;
}

/* "12.3 MB", with the unit that leaves up to four digits before the point. */
static char *format_size(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, size, "%.*f %s", unit ? 1 : 0, value, units[unit]);
	return buf;
}

/* Two units: a process may be as old as the machine. */
static char *format_age(uint64_t secs, char *buf, size_t size)
{
	if (secs < 60)
		snprintf(buf, size, "%" PRIu64 " s", secs);
	else if (secs < 3600)
		snprintf(buf, size, "%" PRIu64 " min %" PRIu64 " s", secs / 60, secs % 60);
	else if (secs < 86400)
		snprintf(buf, size, "%" PRIu64 " h %" PRIu64 " min", secs / 3600, secs / 60 % 60);
	else
		snprintf(buf, size, "%" PRIu64 " d %" PRIu64 " h", secs / 86400, secs / 3600 % 24);
	return buf;
}

static void put_memory(struct line *line, const struct base_metrics *base)
{
	char rss[32], peak[32], vms[32];

	format_size(base->sum.mem_rss_kb * 1024, rss, sizeof(rss));
	format_size(base->peak_kb * 1024, peak, sizeof(peak));
	if (!base->peak_kb)
		put(line, "RSS unknown");
	else if (!base->sum.mem_rss_kb)
		put(line, "RSS up to %s", peak);
	else if (strcmp(rss, peak) != 0)
		put(line, "RSS %s (peak %s)", rss, peak);
	else
		put(line, "RSS %s", rss);
	if (base->sum.mem_vms_kb)
		put(line, "VMS %s", format_size(base->sum.mem_vms_kb * 1024, vms, sizeof(vms)));
}

static void put_life(struct line *line, const struct base_metrics *base)
{
	char age[48];

	if (!base->sum.threads)
		return;
	if (base->processes > 1)
		put(line, "%u threads of %u processes", base->sum.threads, base->processes);
	else
		put(line, "%u %s", base->sum.threads,
		    base->sum.threads == 1 ? "thread" : "threads");
	put(line, "up %s", format_age(base->sum.uptime_secs, age, sizeof(age)));
}

/* A process that has ended may take what it has counted with it. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void put_io(struct line *line, const struct proc_metrics_row *now,
		   const struct proc_metrics_row *before)
{
	char in[32], out[32];

	if (now->has_io) {
		format_size(since(now->disk_read_bytes, before->disk_read_bytes), in, sizeof(in));
		format_size(since(now->disk_write_bytes, before->disk_write_bytes), out,
			    sizeof(out));
		put(line, "disk %s read, %s written", in, out);
	}
	format_size(since(now->net_rx_bytes, before->net_rx_bytes), in, sizeof(in));
	format_size(since(now->net_tx_bytes, before->net_tx_bytes), out, sizeof(out));
	put(line, "network %s in, %s out", in, out);
}

/* Another file than before, as of a cgroup that has gone, counts from its own start. */
static void put_pressure(struct line *line, const struct memory_pressure *now,
			 const struct memory_pressure *before)
{
	uint64_t us = now->scope == before->scope ? since(now->some_us, before->some_us) :
						    now->some_us;
	char time[32];

	if (!now->scope)
		return;
	put(line, "memory pressure %s (%s)",
	    units__format_time(us * NSEC_PER_USEC, time, sizeof(time)),
	    now->scope == MEMORY_PRESSURE_CGROUP ? "cgroup" : "machine");
}

void base_metrics__print(const struct base_metrics *now, const struct base_metrics *before,
			 uint64_t ns, size_t width, FILE *out)
{
	const struct proc_metrics_row *sum = &now->sum, *old = &before->sum;
	struct line line = { .out = out, .width = width ? width : DEFAULT_WIDTH };
	uint64_t cpu_ns = since(sum->cpu_ns, old->cpu_ns);
	uint64_t major = since(sum->page_faults_disk, old->page_faults_disk);
	uint64_t minor = since(sum->page_faults_cached, old->page_faults_cached);
	char time[32];

	put(&line, "CPU %.1f%% (%s)", units__percent(cpu_ns, ns),
	    units__format_time(cpu_ns, time, sizeof(time)));
	put_memory(&line, now);
	put_life(&line, now);
	put(&line, "page faults %" PRIu64 " (%" PRIu64 " from disk)", minor + major, major);
	put_io(&line, sum, old);
	put_pressure(&line, &now->pressure, &before->pressure);
	fputc('\n', out);
}
