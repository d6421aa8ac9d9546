/* SPDX-License-Identifier: GPL-2.0-only */
#include "synth/synth.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/jobs.h"
#include "host/live_thread.h"

/* The rest of a line that is being parsed. */
struct cursor {
	const char *p, *end;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 16;
}

/* Reads a number and the one character behind it, which must be there. */
static bool take_number(struct cursor *cursor, int base, char behind, uint64_t *number)
{
	const char *first = cursor->p;
	uint64_t value = 0;

	for (; cursor->p < cursor->end && digit_value(*cursor->p) < base; cursor->p++) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value))
			return false;
		value += (uint64_t)digit_value(*cursor->p);
	}
	if (cursor->p == first || cursor->p == cursor->end || *cursor->p != behind)
		return false;
	cursor->p++;
	*number = value;
	return true;
}

/* "r-xp ", each place either its letter or a dash. */
static bool take_protection(struct cursor *cursor, struct task_map *map)
{
	const char *p = cursor->p;

	if (cursor->end - p < 5 || p[4] != ' ')
		return false;
	if ((p[0] != 'r' && p[0] != '-') || (p[1] != 'w' && p[1] != '-') ||
	    (p[2] != 'x' && p[2] != '-') || (p[3] != 's' && p[3] != 'p'))
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	map->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	cursor->p += 5;
	return true;
}

/*
 * The kernel escapes the newline in paths, and nothing else, not even the backslash: any
 * other "\ooo" is part of the name. A path may be longer than PATH_MAX, relative ones do that.
 */
static bool copy_path(const struct cursor *cursor, char *path)
{
	static const char newline[] = "\\012", too_long[] = "//toolong";
	size_t n = 0;

	for (const char *p = cursor->p; p < cursor->end; p++) {
		if (!*p)
			return false;
		if (n == PATH_MAX - 1) {
			memcpy(path, too_long, sizeof(too_long));
			return true;
		}
		if (cursor->end - p >= 4 && !memcmp(p, newline, 4)) {
			path[n++] = '\n';
			p += 3;
		} else {
			path[n++] = *p;
		}
	}
	path[n] = '\0';
	return true;
}

/*
 * Memory without a file is "//anon" in the kernel's own MMAP2 records, also where
 * prctl(PR_SET_VMA) gave it a name: under that name perf finds no JIT symbols for it.
 *
 * The " (deleted)" behind a file that was replaced or is a memfd stays, as in the kernel's
 * records: without it the symbols would come from another file, the one that has the
 * name now.
 */
static void set_path(struct task_map *map, char *path)
{
	static const char anon[] = "//anon";

	if (!*path || !strncmp(path, "[anon:", 6) || !strncmp(path, "[anon_shmem:", 12))
		memcpy(path, anon, sizeof(anon));
	map->path = path;
}

int synth__parse_maps_line(const char *line, size_t len, struct task_map *map, char *path_buf)
{
	struct cursor cursor = { line, line + len };
	uint64_t end, maj, min;

	if (!take_number(&cursor, 16, '-', &map->start) || !take_number(&cursor, 16, ' ', &end) ||
	    !take_protection(&cursor, map) || !take_number(&cursor, 16, ' ', &map->pgoff) ||
	    !take_number(&cursor, 16, ':', &maj) || !take_number(&cursor, 16, ' ', &min) ||
	    maj > UINT32_MAX || min > UINT32_MAX || end <= map->start)
		return -EINVAL;
	/* The inode is the last number; older kernels leave no space behind it. */
	map->ino = map->generation = 0;
	for (; cursor.p < cursor.end && *cursor.p != ' '; cursor.p++) {
		if (digit_value(*cursor.p) >= 10 ||
		    __builtin_mul_overflow(map->ino, 10, &map->ino) ||
		    __builtin_add_overflow(map->ino, (uint64_t)digit_value(*cursor.p), &map->ino))
			return -EINVAL;
	}
	while (cursor.p < cursor.end && *cursor.p == ' ')
		cursor.p++;
	if (!copy_path(&cursor, path_buf))
		return -EINVAL;
	map->len = end - map->start;
	map->maj = (uint32_t)maj;
	map->min = (uint32_t)min;
	set_path(map, path_buf);
	map->data = !(map->prot & PROT_EXEC);
	return map->data ? 0 : 1;
}

struct maps_run {
	const pid_t *pids;
	bool data; /* also of files that can only be read */
	synth_map_fn fn;
	void *ctx;
	struct synth_result *result;
};

/* A mapping as the child sends it: the struct, whose path means nothing, and the path. */
struct maps_answer {
	struct task_map map;
	char path[PATH_MAX];
};

static bool is_data(const struct task_map *map)
{
	return map->prot & PROT_READ && map->ino;
}

/* The type of a child's message that tells how many lines it left out. */
#define BAD_LINES 1

/* *nr: how many lines there were. One that makes no sense costs its own mapping. */
static int send_maps(FILE *file, bool data, struct child_out *out, size_t *nr)
{
	struct maps_answer answer = { 0 };
	size_t capacity = 0, size;
	uint64_t bad_lines = 0;
	char *line = NULL;
	int ret = 0;
	ssize_t len;

	*nr = 0;
	while ((len = getline(&line, &capacity, file)) > 0) {
		(*nr)++;
		if (line[len - 1] == '\n')
			len--;
		ret = synth__parse_maps_line(line, (size_t)len, &answer.map, answer.path);
		if (ret == -EINVAL) {
			bad_lines++;
			ret = 0;
			continue;
		}
		if (ret > 0 || (!ret && data && is_data(&answer.map))) {
			size = offsetof(struct maps_answer, path) + strlen(answer.path) + 1;
			ret = child_out__put(out, 0, &answer, size);
		}
		if (ret < 0)
			break;
	}
	if (!ret && ferror(file))
		ret = -errno;
	free(line);
	if (!ret && bad_lines)
		ret = child_out__put(out, BAD_LINES, &bad_lines, sizeof(bad_lines));
	return ret;
}

/* The maps of a process, as its thread tid shows them. */
static int read_maps_of(const struct maps_run *run, pid_t tid, struct child_out *out, size_t *nr)
{
	char name[32];
	FILE *file;
	int err;

	snprintf(name, sizeof(name), "/proc/%d/maps", tid);
	file = fopen(name, "re");
	if (!file)
		return -errno;
	err = send_maps(file, run->data, out, nr);
	fclose(file);
	return err;
}

static int read_maps(void *ctx, size_t index, struct child_out *out)
{
	const struct maps_run *run = ctx;
	pid_t pid = run->pids[index], other;
	size_t nr = 0;
	int err = read_maps_of(run, pid, out, &nr);

	if (nr || (err && err != -ESRCH))
		return err;
	other = live_thread__other(pid);
	return other ? read_maps_of(run, other, out, &nr) : err;
}

static int take_map(void *ctx, size_t index, const struct child_message *message)
{
	const size_t head = offsetof(struct maps_answer, path);
	const struct maps_run *run = ctx;
	const char *path = (const char *)message->data + head;
	struct task_event event = { .kind = TASK_EVENT_MMAP, .pid = run->pids[index],
				    .tid = run->pids[index] };
	uint64_t bad_lines;

	if (message->type == BAD_LINES && message->size == sizeof(bad_lines)) {
		memcpy(&bad_lines, message->data, sizeof(bad_lines));
		run->result->bad_lines += bad_lines;
		return 0;
	}
	if (message->type || message->size <= head || path[message->size - head - 1])
		return -EPROTO;
	memcpy(&event.map, message->data, sizeof(event.map));
	event.map.path = path;
	return run->fn(run->ctx, &event);
}

static void count_process(void *ctx, size_t index, int status)
{
	const struct maps_run *run = ctx;
	struct synth_result *result = run->result;

	switch (status) {
	case 0:
		result->processes++;
		break;
	case -ENOENT:
	case -ESRCH:
		result->gone++;
		break;
	case -EACCES:
	case -EPERM:
		result->denied++;
		break;
	case -ETIMEDOUT:
		result->missed++;
		if (!result->first_missed)
			result->first_missed = run->pids[index];
		break;
	case -ECANCELED:
		result->not_asked++;
		break;
	case -EAGAIN:
		result->no_process++;
		break;
	default:
		result->failed++;
	}
}

static int run_maps(struct maps_run *run, size_t nr, int deadline_ms)
{
	const struct jobs jobs = {
		.nr = nr,
		.ctx = run,
		.run = read_maps,
		.answer = take_map,
		.done = count_process,
	};

	*run->result = (struct synth_result){ 0 };
	return jobs__run(&jobs, deadline_ms);
}

int synth__maps(const pid_t *pids, size_t nr, int deadline_ms, synth_map_fn fn, void *ctx,
		struct synth_result *result)
{
	struct maps_run run = { .pids = pids, .fn = fn, .ctx = ctx, .result = result };

	return run_maps(&run, nr, deadline_ms);
}

int synth__data_maps(const pid_t *pids, size_t nr, int deadline_ms, synth_map_fn fn, void *ctx,
		     struct synth_result *result)
{
	struct maps_run run = { .pids = pids, .data = true, .fn = fn, .ctx = ctx,
				.result = result };

	return run_maps(&run, nr, deadline_ms);
}
