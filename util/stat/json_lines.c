/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/json_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/units.h"
#include "stat/json_ebpf.h"
#include "stat/json_stat.h"
#include "stat/proc_text.h"

/* For the arguments of a process whose memory does not answer. */
#define ARGUMENTS_PATIENCE_NS (500 * NSEC_PER_MSEC)

static int result_of(FILE *out)
{
	return ferror(out) ? -EIO : 0;
}

/* The fields that a process and a sum of processes have in common, without braces. */
static void put_row(const struct proc_metrics_row *row, uint64_t ts_ms, FILE *out)
{
	fprintf(out,
		"\"ts_ms\":%" PRIu64 ",\"cpu_usage\":%.3f,\"mem_rss_kb\":%" PRIu64
		",\"mem_vms_kb\":%" PRIu64 ",\"disk_read_bytes\":%" PRIu64
		",\"disk_write_bytes\":%" PRIu64,
		ts_ms, row->cpu_usage, row->mem_rss_kb, row->mem_vms_kb, row->disk_read_bytes,
		row->disk_write_bytes);
	if (row->has_io)
		fprintf(out, ",\"syscall_read_bytes\":%" PRIu64 ",\"syscall_write_bytes\":%" PRIu64,
			row->syscall_read_bytes, row->syscall_write_bytes);
	fprintf(out,
		",\"page_faults_cached\":%" PRIu64 ",\"page_faults_disk\":%" PRIu64
		",\"sys_net_rx_bytes\":%" PRIu64 ",\"sys_net_tx_bytes\":%" PRIu64
		",\"thread_count\":%u,\"uptime_secs\":%" PRIu64,
		row->page_faults_cached, row->page_faults_disk, row->net_rx_bytes,
		row->net_tx_bytes, row->threads, row->uptime_secs);
}

/* denet has shares of 1, the kernel percentages. */
static void put_pressure(const struct memory_pressure *pressure, FILE *out)
{
	if (pressure->scope)
		fprintf(out, ",\"psi_mem\":{\"some_avg10\":%.4f,\"full_avg10\":%.4f}",
			pressure->some_avg10 / 100, pressure->full_avg10 / 100);
}

static void put_process(const struct proc_metrics_row *row, uint64_t ts_ms, FILE *out)
{
	put_row(row, ts_ms, out);
	fprintf(out, ",\"cpu_core\":%u", row->cpu);
}

/* /proc/PID/cmdline is in the memory of the process, whose lock may be held for ever. */
static int read_arguments(void *ctx, struct child_out *out)
{
	const pid_t *pid = ctx;
	char path[32], text[65536];
	int len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", *pid);
	len = proc_text__read(path, text, sizeof(text));
	/* A program that shows a title of its own in them need not end it with a NUL. */
	if (len > 0 && text[len - 1])
		len++;
	return len < 0 ? len : child_out__put(out, 0, text, (size_t)len);
}

static void put_arguments_of(pid_t pid, FILE *out)
{
	uint64_t patience = ARGUMENTS_PATIENCE_NS;
	struct child_message message;
	struct child *child;
	int err;

	child = child__new(read_arguments, &pid, &err);
	if (child && child__receive_unless_stuck(child, patience, clock__now_ns() + 4 * patience,
						 &message) == 1) {
		const char *text = message.data;
		size_t end = message.size;

		/* A program that shows a title leaves NULs where its arguments have been. */
		while (end > 1 && !text[end - 1] && !text[end - 2])
			end--;
		for (size_t at = 0; at < end; at += strlen(text + at) + 1) {
			fputs(at ? "," : "", out);
			json_text__print(text + at, out);
		}
	}
	child__delete(child);
}

static void put_executable(pid_t pid, FILE *out)
{
	char path[32], target[4096];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = pid ? readlink(path, target, sizeof(target) - 1) : 0;
	target[len > 0 ? len : 0] = '\0';
	json_text__print(target, out);
}

int json_lines__metadata(const struct json_target *target, FILE *out)
{
	fprintf(out, "{\"kind\":\"metadata\",\"pid\":%d,\"cmd\":[", target->pid);
	for (size_t i = 0; target->argv && target->argv[i]; i++) {
		fputs(i ? "," : "", out);
		json_text__print(target->argv[i], out);
	}
	if (!target->argv && target->pid)
		put_arguments_of(target->pid, out);
	fputs("],\"executable\":", out);
	put_executable(target->pid, out);
	fprintf(out, ",\"t0_ms\":%" PRIu64 "}\n", target->start_ms);
	return result_of(out);
}

static void put_children(const struct proc_metrics_sample *sample, FILE *out)
{
	for (size_t i = 0; i < sample->nr_children; i++) {
		const struct proc_metrics_row *child = &sample->children[i];

		fprintf(out, "%s{\"pid\":%d,\"command\":", i ? "," : "", child->pid);
		json_text__print(child->command, out);
		fputs(",\"metrics\":{", out);
		put_process(child, sample->ts_ms, out);
		fputs("}}", out);
	}
}

int json_lines__tree(const struct proc_metrics_sample *sample, const struct stat_data *data,
		     FILE *out)
{
	int err;

	fprintf(out, "{\"kind\":\"tree\",\"ts_ms\":%" PRIu64 ",\"parent\":", sample->ts_ms);
	if (sample->has_parent) {
		fputs("{", out);
		put_process(&sample->parent, sample->ts_ms, out);
		put_pressure(&sample->pressure, out);
		fputs("}", out);
	} else {
		fputs("null", out);
	}
	fputs(",\"children\":[", out);
	put_children(sample, out);
	fputs("],\"aggregated\":{", out);
	put_row(&sample->total, sample->ts_ms, out);
	fprintf(out, ",\"process_count\":%u", sample->processes);
	put_pressure(&sample->pressure, out);
	fputs(",\"ebpf\":", out);
	err = json_ebpf__put(data, out);
	fputs("},\"stat\":", out);
	json_stat__put(sample, data, out);
	fputs("}\n", out);
	return err ? err : result_of(out);
}

int json_lines__sample(const struct proc_metrics_sample *sample, const struct stat_data *data,
		       FILE *out)
{
	if (!sample->has_parent)
		return 0;
	fputs("{\"kind\":\"sample\",", out);
	put_process(&sample->parent, sample->ts_ms, out);
	put_pressure(&sample->pressure, out);
	fputs(",\"stat\":", out);
	json_stat__put(sample, data, out);
	fputs("}\n", out);
	return result_of(out);
}
