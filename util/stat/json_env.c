/* SPDX-License-Identifier: GPL-2.0-only */
/* The line "env" of denet: the machine, for those who compare measurements later. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json_text.h"
#include "stat/json_lines.h"
#include "stat/proc_text.h"

#define MAX_NODES 1024

/* The text of a small file without blanks at its end; "" where there is none. */
static const char *read_text(const char *path, char *text, size_t size)
{
	int len = proc_text__read(path, text, size);

	if (len < 0)
		len = 0;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static bool read_number(const char *path, uint64_t *number)
{
	char text[64], *end;

	read_text(path, text, sizeof(text));
	*number = strtoull(text, &end, 10);
	return end != text;
}

/* Numbers in a list such as "0-3,7". */
static unsigned int count_list(const char *list)
{
	unsigned int count = 0, first, last;
	int len;

	while (sscanf(list, "%u%n", &first, &len) == 1) {
		list += len;
		last = first;
		if (*list == '-' && sscanf(list, "-%u%n", &last, &len) == 1)
			list += len;
		count += last >= first ? last - first + 1 : 0;
		list += *list == ',';
	}
	return count;
}

/* Names of a folder that are a word and a number; fn gets the numbers. */
static void for_each_number(const char *folder, const char *word,
			    void (*fn)(void *ctx, unsigned int number), void *ctx)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned int number;
	char rest;

	while (dir && (entry = readdir(dir))) {
		if (!strncmp(entry->d_name, word, strlen(word)) &&
		    sscanf(entry->d_name + strlen(word), "%u%c", &number, &rest) == 1)
			fn(ctx, number);
	}
	if (dir)
		closedir(dir);
}

struct topology {
	uint64_t packages[256]; /* package ids */
	unsigned int sockets;
	unsigned int cores; /* those whose first thread is this CPU */
	unsigned int threads_per_core;
};

static void add_cpu(void *ctx, unsigned int cpu)
{
	struct topology *topology = ctx;
	char path[128], list[256];
	uint64_t package, first;
	unsigned int i;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		 cpu);
	if (!read_number(path, &package))
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 cpu);
	read_text(path, list, sizeof(list));
	first = strtoull(list, NULL, 10);
	if (first == cpu) {
		topology->cores++;
		topology->threads_per_core = count_list(list);
	}
	for (i = 0; i < topology->sockets && topology->packages[i] != package; i++)
		;
	if (i == topology->sockets && i < sizeof(topology->packages) / sizeof(package))
		topology->packages[topology->sockets++] = package;
}

static void put_cpus(FILE *out)
{
	char text[8192], *model, *end = NULL;
	struct topology topology = { 0 };

	for_each_number("/sys/devices/system/cpu", "cpu", add_cpu, &topology);
	read_text("/proc/cpuinfo", text, sizeof(text));
	model = strstr(text, "model name");
	model = model ? strchr(model, ':') : NULL;
	if (model) {
		model += 1 + strspn(model + 1, " ");
		end = strchr(model, '\n');
	}
	if (end)
		*end = '\0';
	fprintf(out,
		",\"lscpu\":{\"sockets\":%u,\"cores_per_socket\":%u,\"threads_per_core\":%u,"
		"\"model\":",
		topology.sockets, topology.sockets ? topology.cores / topology.sockets : 0,
		topology.threads_per_core);
	json_text__print(model ? model : "", out);
	fputs("}", out);
}

struct nodes {
	unsigned int ids[MAX_NODES];
	unsigned int nr;
};

static void add_node(void *ctx, unsigned int id)
{
	struct nodes *nodes = ctx;
	unsigned int at = nodes->nr;

	if (nodes->nr == MAX_NODES)
		return;
	for (; at && nodes->ids[at - 1] > id; at--)
		nodes->ids[at] = nodes->ids[at - 1];
	nodes->ids[at] = id;
	nodes->nr++;
}

/* The numbers of a line, as an array. */
static void put_numbers(const char *text, FILE *out)
{
	unsigned int number;
	int len;

	fputs("[", out);
	for (bool first = true; sscanf(text, "%u%n", &number, &len) == 1; first = false) {
		fprintf(out, "%s%u", first ? "" : ",", number);
		text += len;
	}
	fputs("]", out);
}

static void put_numa(FILE *out)
{
	struct nodes nodes = { .nr = 0 };
	char path[96], text[16384];
	uint64_t kb;

	for_each_number("/sys/devices/system/node", "node", add_node, &nodes);
	fprintf(out, ",\"numa\":{\"nodes\":%u,\"distances\":[", nodes.nr);
	for (unsigned int i = 0; i < nodes.nr; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/distance",
			 nodes.ids[i]);
		fputs(i ? "," : "", out);
		put_numbers(read_text(path, text, sizeof(text)), out);
	}
	fputs("],\"node_sizes_mb\":[", out);
	for (unsigned int i = 0; i < nodes.nr; i++) {
		const char *total;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo",
			 nodes.ids[i]);
		total = strstr(read_text(path, text, sizeof(text)), "MemTotal:");
		kb = total ? strtoull(total + 9, NULL, 10) : 0;
		fprintf(out, "%s%" PRIu64, i ? "," : "", kb / 1024);
	}
	fputs("]}", out);
}

/* Our own CPUs, which COMMAND inherits, as "0-3,7"; "" where they are not known. */
static void put_affinity(FILE *out)
{
	cpu_set_t *set = CPU_ALLOC(8192);
	size_t size = CPU_ALLOC_SIZE(8192);
	const char *comma = "";

	fputs(",\"affinity_inherited\":\"", out);
	if (set && !sched_getaffinity(0, size, set)) {
		for (int cpu = 0; cpu < 8192; cpu++) {
			int first = cpu;

			if (!CPU_ISSET_S(cpu, size, set))
				continue;
			while (cpu + 1 < 8192 && CPU_ISSET_S(cpu + 1, size, set))
				cpu++;
			fprintf(out, "%s%d", comma, first);
			if (cpu > first)
				fprintf(out, "-%d", cpu);
			comma = ",";
		}
	}
	fputs("\"", out);
	CPU_FREE(set);
}

/* An attribute of cpufreq for each CPU from 0 on; nothing where CPU 0 has none. */
static void put_cpufreq(const char *key, const char *attribute, bool is_text, FILE *out)
{
	char path[128], text[64];
	unsigned int cpu;

	for (cpu = 0;; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu,
			 attribute);
		if (!*read_text(path, text, sizeof(text)))
			break;
		if (cpu)
			fputs(",", out);
		else
			fprintf(out, ",\"%s\":[", key);
		if (is_text)
			json_text__print(text, out);
		else
			fprintf(out, "%" PRIu64, (uint64_t)strtoull(text, NULL, 10));
	}
	fputs(cpu ? "]" : "", out);
}

/* A text that is left out where its file is missing. */
static void put_optional(const char *key, const char *path, FILE *out)
{
	char text[8192];

	if (!*read_text(path, text, sizeof(text)))
		return;
	fprintf(out, ",\"%s\":", key);
	json_text__print(text, out);
}

int json_lines__env(pid_t pid, uint64_t now_ms, FILE *out)
{
	struct utsname name = { 0 };
	char path[32] = "/proc/self/cgroup";
	uint64_t smt;

	uname(&name);
	fprintf(out, "{\"kind\":\"env\",\"ts_ms\":%" PRIu64 ",\"host\":", now_ms);
	json_text__print(name.nodename, out);
	fputs(",\"kernel\":", out);
	json_text__print(name.release, out);
	put_cpus(out);
	put_numa(out);
	put_affinity(out);
	put_cpufreq("cpu_governor", "scaling_governor", true, out);
	put_cpufreq("cpu_freq_khz", "scaling_cur_freq", false, out);
	put_optional("thp_enabled", "/sys/kernel/mm/transparent_hugepage/enabled", out);
	if (read_number("/sys/devices/system/cpu/smt/active", &smt))
		fprintf(out, ",\"smt_active\":%s", smt ? "true" : "false");
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	put_optional("cgroup", path, out);
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
