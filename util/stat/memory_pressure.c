/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/memory_pressure.h"

#include <stdio.h>
#include <string.h>

#include "host/cgroup.h"
#include "stat/proc_text.h"

static int read_totals(const char *path, struct proc_text_pressure *pressure)
{
	char text[512];
	int len = proc_text__read(path, text, sizeof(text));

	return len < 0 ? len : proc_text__pressure(text, pressure);
}

static int use(struct memory_pressure_source *source, enum memory_pressure_scope scope)
{
	struct proc_text_pressure pressure;
	int err = read_totals(source->path, &pressure);

	source->scope = err ? MEMORY_PRESSURE_NONE : scope;
	if (err)
		return err;
	source->some_us = pressure.some_total_us;
	source->full_us = pressure.full_total_us;
	return 0;
}

static void use_system(struct memory_pressure_source *source)
{
	snprintf(source->path, sizeof(source->path), "/proc/pressure/memory");
	use(source, MEMORY_PRESSURE_SYSTEM);
}

/* The line "0::/path" is that of cgroup v2. False: there is none, or it does not fit. */
static bool find_cgroup(struct memory_pressure_source *source, pid_t pid)
{
	struct cgroup_mounts mounts = { 0 };
	char text[4096], path[32];
	const char *line;
	int len = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (proc_text__read(path, text, sizeof(text)) < 0 || cgroup_mounts__read(&mounts, NULL))
		return false;
	line = strncmp(text, "0::/", 4) ? strstr(text, "\n0::/") : text;
	if (line && mounts.path[CGROUP_V2]) {
		line = strstr(line, "0::") + 3;
		len = snprintf(source->path, sizeof(source->path), "%s%.*s/memory.pressure",
			       mounts.path[CGROUP_V2], (int)strcspn(line, "\n"), line);
	}
	cgroup_mounts__free(&mounts);
	return len > 0 && (size_t)len < sizeof(source->path);
}

void memory_pressure__begin(struct memory_pressure_source *source, pid_t pid)
{
	*source = (struct memory_pressure_source){ 0 };
	if (!pid || !find_cgroup(source, pid) || use(source, MEMORY_PRESSURE_CGROUP))
		use_system(source);
}

struct memory_pressure memory_pressure__read(struct memory_pressure_source *source)
{
	struct memory_pressure result = { 0 };
	struct proc_text_pressure now;
	int err = source->scope ? read_totals(source->path, &now) : -1;

	if (err && source->scope == MEMORY_PRESSURE_CGROUP) {
		use_system(source);
		err = source->scope ? read_totals(source->path, &now) : -1;
	}
	if (err)
		return result;
	result.scope = source->scope;
	result.some_avg10 = now.some_avg10;
	result.full_avg10 = now.full_avg10;
	result.some_us = now.some_total_us - source->some_us;
	result.full_us = now.full_total_us - source->full_us;
	return result;
}
