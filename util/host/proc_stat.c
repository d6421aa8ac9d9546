/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

/* Fields between the name, which may hold anything, and the start time. */
#define FIELDS_BEFORE_START 19

int proc_stat__parse_start(const char *line, uint64_t *ticks)
{
	const char *field = strrchr(line, ')');

	for (int i = 0; field && i <= FIELDS_BEFORE_START; i++) {
		field = strchr(field, ' ');
		field = field ? field + 1 : NULL;
	}
	return field && sscanf(field, "%" SCNu64, ticks) == 1 ? 0 : -EPROTO;
}

static int read_line(pid_t pid, char *line, size_t size)
{
	char path[32];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	len = read(fd, line, size - 1);
	close(fd);
	line[len > 0 ? len : 0] = '\0';
	return len > 0 ? 0 : -ESRCH;
}

int proc_stat__born(pid_t pid, uint64_t *ns)
{
	uint64_t ticks, boot, now = clock__now_ns(), since_boot;
	long hz = sysconf(_SC_CLK_TCK);
	struct timespec boottime;
	char line[1024];
	int err = read_line(pid, line, sizeof(line));

	if (!err)
		err = proc_stat__parse_start(line, &ticks);
	if (err)
		return err;
	clock_gettime(CLOCK_BOOTTIME, &boottime);
	boot = (uint64_t)boottime.tv_sec * NSEC_PER_SEC + (uint64_t)boottime.tv_nsec;
	since_boot = ticks * (NSEC_PER_SEC / (uint64_t)(hz > 0 ? hz : 100));
	/* The time spent suspended; both clocks are read one after the other. */
	boot = boot > now ? boot - now : 0;
	*ns = since_boot > boot ? since_boot - boot : 0;
	return 0;
}

int proc_stat__parent(pid_t pid, pid_t *parent)
{
	char line[1024];
	const char *name_end;
	int err = read_line(pid, line, sizeof(line));

	if (err)
		return err;
	name_end = strrchr(line, ')');
	return name_end && sscanf(name_end, ") %*c %d", parent) == 1 ? 0 : -EPROTO;
}
