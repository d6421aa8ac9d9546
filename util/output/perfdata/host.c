/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

/*
 * Copies the value of the first "key : value" line of a /proc file, with runs of blanks
 * squeezed to one. out stays empty if there is no such line.
 */
static void read_value(const char *file, const char *key, char *out, size_t size)
{
	char *line = NULL, *value;
	size_t capacity = 0, len = 0;
	FILE *stream = fopen(file, "re");

	if (!stream)
		return;
	while (getline(&line, &capacity, stream) > 0) {
		value = strchr(line, ':');
		if (!value || strncmp(line, key, strlen(key)) != 0)
			continue;
		for (value++; *value && *value != '\n' && len + 1 < size; value++) {
			char c = *value == '\t' ? ' ' : *value;

			if (c != ' ' || (len && out[len - 1] != ' '))
				out[len++] = c;
		}
		break;
	}
	out[len] = '\0';
	free(line);
	fclose(stream);
}

/*
 * CPU numbers may have holes, and readers size arrays by this figure: it is one more than the
 * highest number in "0-3,6-7", not the number of CPUs.
 */
static uint32_t cpus_available(uint32_t online)
{
	char text[1024] = "";
	FILE *stream = fopen("/sys/devices/system/cpu/present", "re");
	unsigned long highest;
	char *last = text;

	if (!stream)
		return online;
	if (!fgets(text, sizeof(text), stream))
		text[0] = '\0';
	fclose(stream);
	for (char *p = text; *p; p++) {
		if (*p == '-' || *p == ',')
			last = p + 1;
	}
	highest = strtoul(last, NULL, 10);
	return highest + 1 > online ? (uint32_t)highest + 1 : online;
}

static uint64_t nanoseconds(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

/* Both clocks at one moment, so that readers can show the time of day. */
static void read_clocks(struct features *features)
{
	struct timespec mono, real, resolution;

	features->clockid = CLOCK_MONOTONIC;
	if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		features->clock_resolution_ns = nanoseconds(&resolution);
	if (clock_gettime(CLOCK_MONOTONIC, &mono) || clock_gettime(CLOCK_REALTIME, &real))
		return;
	features->clock_ns = nanoseconds(&mono);
	features->realtime_ns = nanoseconds(&real);
}

void features__read_host(struct features *features)
{
	struct utsname name;
	char memory[64] = "";
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (uname(&name) == 0) {
		snprintf(features->hostname, sizeof(features->hostname), "%s", name.nodename);
		snprintf(features->release, sizeof(features->release), "%s", name.release);
		snprintf(features->machine, sizeof(features->machine), "%s", name.machine);
	}
	features->cpus_online = online > 0 ? (uint32_t)online : 1;
	features->cpus_avail = cpus_available(features->cpus_online);
	/* Architectures differ in which line names the CPU; without one it is left out. */
	read_value("/proc/cpuinfo", "model name", features->cpudesc, sizeof(features->cpudesc));
	read_value("/proc/meminfo", "MemTotal", memory, sizeof(memory));
	features->total_mem_kb = strtoull(memory, NULL, 10);
	read_clocks(features);
}
