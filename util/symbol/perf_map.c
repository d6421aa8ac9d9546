/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "host/proc_stat.h"
#include "host/root_open.h"

/* The times of files lag behind by a tick, and clocks are set. */
#define SLACK_NS (2 * NSEC_PER_SEC)

static const char *take_hex(const char *at, const char *end, uint64_t *value)
{
	const char *first = at;

	*value = 0;
	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		first = at += 2;
	for (; at < end && units__hex_digit(*at | 0x20) >= 0; at++) {
		if (*value >> 60)
			return NULL;
		*value = *value << 4 | (uint64_t)units__hex_digit(*at | 0x20);
	}
	return at == first || at == end || *at != ' ' ? NULL : at + 1;
}

int perf_map__parse_line(const char *line, size_t len, uint64_t *start, uint64_t *size,
			 const char **name, size_t *name_len)
{
	const char *end = line + len, *at = take_hex(line, end, start);

	if (at)
		at = take_hex(at, end, size);
	if (!at || at == end || !*size || *start + *size < *start ||
	    memchr(at, '\0', (size_t)(end - at)))
		return -EINVAL;
	*name = at;
	*name_len = (size_t)(end - at);
	return 0;
}

/* The PID in the innermost namespace of the process; 0: it is gone. */
static pid_t inner_pid(pid_t pid)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	const char *last;
	pid_t inner = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!inner && getline(&line, &capacity, file) > 0) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		inner = last ? (pid_t)strtol(last + 1, NULL, 10) : 0;
	}
	free(line);
	fclose(file);
	return inner;
}

/* Of the process's user, which is ours where the process has ended, or of root. */
static bool is_trusted(const struct stat *st, pid_t pid)
{
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !st->st_uid || st->st_uid == geteuid() ||
	       (pid && !stat(path, &process) && process.st_uid == st->st_uid);
}

/* Whether it was written before the process was born. */
static bool is_older(const struct stat *st, uint64_t born)
{
	struct timespec now;
	uint64_t written, real;

	clock_gettime(CLOCK_REALTIME, &now);
	real = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
	written = (uint64_t)st->st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st->st_mtim.tv_nsec;
	return written + SLACK_NS < real - clock__now_ns() + born;
}

static int check(int fd, pid_t pid, uint64_t born)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!is_trusted(&st, pid))
		return -EPERM;
	return born && is_older(&st, born) ? -ESTALE : 0;
}

int perf_map__open(pid_t pid, uint64_t alive, uint64_t born)
{
	uint64_t since;
	bool alone = proc_stat__born(pid, &since) || since > alive;
	pid_t inner = alone ? 0 : inner_pid(pid);
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner ? inner : pid);
	fd = root_open__file(alone ? 0 : pid, path);
	if (fd < 0)
		return fd;
	err = check(fd, alone ? 0 : pid, alone ? born : since);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int perf_map__each(int fd, perf_map_fn fn, void *ctx)
{
	FILE *file = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 3), "r");
	char *line = NULL;
	size_t capacity = 0;
	ssize_t len;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && (len = getline(&line, &capacity, file)) > 0) {
		uint64_t start, size;
		const char *name;
		size_t name_len;

		if (line[len - 1] == '\n')
			len--;
		if (!perf_map__parse_line(line, (size_t)len, &start, &size, &name, &name_len))
			err = fn(ctx, start, start + size, name, name_len);
	}
	free(line);
	fclose(file);
	return err;
}
