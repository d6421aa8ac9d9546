/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "stat/base_metrics.h"

#define SECOND 1000000000ULL

static const struct base_metrics none;

/* The lines, with spaces for their ends. */
static char *text_of(const struct base_metrics *now, const struct base_metrics *before,
		     size_t width, size_t *longest)
{
	char *text = NULL;
	size_t size, len;
	FILE *out = open_memstream(&text, &size);

	base_metrics__print(now, before, 2 * SECOND, width, out);
	fclose(out);
	*longest = 0;
	for (char *line = text; *line; line += len + 1) {
		len = strcspn(line, "\n");
		*longest = len > *longest ? len : *longest;
		line[len] = ' ';
	}
	return text;
}

static struct proc_metrics_row process = {
	.pid = 100,
	.cpu_ns = SECOND,
	.mem_rss_kb = 3 * 1024,
	.mem_vms_kb = 2 * 1024 * 1024,
	.has_io = true,
	.disk_read_bytes = 1000,
	.disk_write_bytes = 1536,
	.page_faults_cached = 7,
	.page_faults_disk = 2,
	.net_rx_bytes = 5,
	.net_tx_bytes = 6,
	.threads = 1,
	.uptime_secs = 3700,
};

static struct proc_metrics_sample sample_of(struct proc_metrics_row *row)
{
	return (struct proc_metrics_sample){ .has_parent = true,
					     .parent = *row,
					     .total = *row,
					     .processes = 1,
					     .pressure = { .scope = MEMORY_PRESSURE_SYSTEM,
							   .some_us = 1500 } };
}

TEST(all_of_them_are_shown)
{
	struct proc_metrics_sample sample = sample_of(&process);
	struct base_metrics base = { 0 };
	size_t longest;
	char *text;

	base_metrics__take(&base, &sample);
	text = text_of(&base, &none, 0, &longest);
	EXPECT_STREQ("CPU 50.0% (1.000 s), RSS 3.0 MB, VMS 2.0 GB, 1 thread, up 1 h 1 min, "
		     "page faults 9 (2 from disk), disk 1000 B read, 1.5 KB written, "
		     "network 5 B in, 6 B out, memory pressure 1.500 ms (machine) ",
		     text);
	EXPECT_LE(longest, 80);
	free(text);
}

TEST(lines_fit_whatever_the_figures_are)
{
	struct proc_metrics_row row = process;
	struct proc_metrics_sample sample;
	struct base_metrics base = { 0 };
	size_t longest;

	memset(&row.cpu_usage, 0xff, sizeof(row) - offsetof(struct proc_metrics_row, cpu_usage));
	row.mem_rss_kb = row.mem_vms_kb = 1ULL << 50;
	row.has_io = true;
	row.cpu_ns = 1ULL << 62;
	sample = sample_of(&row);
	sample.processes = UINT32_MAX;
	base_metrics__take(&base, &sample);
	base_metrics__raise_peak(&base, 1ULL << 51);
	for (size_t width = 80; width < 400; width += 13) {
		free(text_of(&base, &none, width, &longest));
		EXPECT_LE(longest, width);
	}
}

TEST(memory_of_what_has_ended_is_that_which_it_had_last)
{
	struct proc_metrics_row row = process;
	struct proc_metrics_sample sample = sample_of(&row);
	struct base_metrics base = { 0 };
	size_t longest;
	char *text;

	sample.total.mem_rss_kb = 5 * 1024;
	base_metrics__take(&base, &sample);
	sample = sample_of(&process);
	sample.pressure = (struct memory_pressure){ 0 };
	base_metrics__take(&base, &sample);
	sample.total = (struct proc_metrics_row){ .page_faults_cached = 30, .threads = 1 };
	base_metrics__take(&base, &sample);
	text = text_of(&base, &none, 0, &longest);
	EXPECT_NE(NULL,
		  strstr(text, "RSS 3.0 MB (peak 5.0 MB), VMS 2.0 GB, 1 thread, up 1 h 1 min, "
			       "page faults 30 (0 from disk)"));
	EXPECT_EQ(NULL, strstr(text, "disk 0 B"));
	EXPECT_EQ(NULL, strstr(text, "pressure"));
	free(text);
}

TEST(memory_that_nobody_has_seen_is_unknown)
{
	struct base_metrics base = { 0 };
	size_t longest;
	char *text = text_of(&base, &none, 0, &longest);

	EXPECT_NE(NULL, strstr(text, "RSS unknown, page faults"));
	free(text);
	base_metrics__raise_peak(&base, 64 * 1024);
	text = text_of(&base, &none, 0, &longest);
	EXPECT_NE(NULL, strstr(text, "RSS up to 64.0 MB, page faults"));
	free(text);
}

TEST(counters_of_an_interval_are_differences)
{
	struct proc_metrics_sample sample = sample_of(&process);
	struct base_metrics before = { 0 }, now;
	size_t longest;
	char *text;

	base_metrics__take(&before, &sample);
	now = before;
	sample.total.cpu_ns += SECOND / 2;
	sample.total.page_faults_cached += 10;
	sample.total.page_faults_disk += 1;
	sample.total.disk_write_bytes += 512;
	sample.total.net_rx_bytes = 0;
	sample.pressure.some_us += 100;
	base_metrics__take(&now, &sample);
	text = text_of(&now, &before, 0, &longest);
	EXPECT_STREQ("CPU 25.0% (500.000 ms), RSS 3.0 MB, VMS 2.0 GB, 1 thread, up 1 h 1 min, "
		     "page faults 11 (1 from disk), disk 0 B read, 512 B written, "
		     "network 0 B in, 0 B out, memory pressure 100.000 us (machine) ",
		     text);
	free(text);
}

TEST(filters_leave_the_processes_that_have_figures)
{
	struct proc_metrics_row children[] = { process, process, process };
	struct stat_task tasks[] = { { .pid = 300 }, { .pid = 100 } };
	const struct stat_data data = { .processes = tasks,
					.nr_processes = 2,
					.total.running_ns = SECOND };
	struct proc_metrics_sample sample = sample_of(&process);
	struct base_metrics base = { 0 };

	children[0].pid = 200;
	children[1].pid = 300;
	children[2].pid = 400;
	sample.children = children;
	sample.nr_children = 3;
	base_metrics__take_known(&base, &sample, &data);
	EXPECT_EQ(2, base.processes);
	EXPECT_EQ(2, base.sum.threads);
	EXPECT_EQ(6 * 1024, base.sum.mem_rss_kb);
	EXPECT_EQ(14, base.sum.page_faults_cached);
	EXPECT_EQ(SECOND, base.sum.cpu_ns);
	EXPECT_EQ(5, base.sum.net_rx_bytes);
}

TEST_HARNESS_MAIN
