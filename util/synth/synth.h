/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYNTH_H
#define DENET_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/kallsyms.h"
#include "machine/task_event.h"

/*
 * State from before the recording, read from /proc: memory maps of processes, the kernel and its
 * modules. Access to another process's memory map is made in a child that can be killed, since
 * reading /proc/PID/maps hangs while that process holds its mmap_lock in an endless fault.
 */

/* A mapping, as a TASK_EVENT_MMAP of time 0; of what has no name "//anon", as perf does. */
typedef int (*synth_map_fn)(void *ctx, const struct task_event *event);

struct synth_result {
	uint64_t processes; /* whose maps were read */
	uint64_t gone;	    /* had ended before they were read */
	uint64_t denied;    /* not ours to read */
	uint64_t missed;    /* were asked and did not answer before the deadline */
	pid_t first_missed; /* 0: none */
	uint64_t not_asked; /* the deadline was reached before their turn */
	uint64_t no_process; /* no process could be made to read them */
	uint64_t failed;    /* for another reason */
	uint64_t bad_lines; /* mappings left out, for lines that cannot be parsed */
};

/*
 * Calls fn for each executable mapping of each process in pids. Processes that do not
 * answer within deadline_ms in all are skipped and counted; the others are still read. 0 or a
 * negative errno (fn's, or our own).
 */
int synth__maps(const pid_t *pids, size_t nr, int deadline_ms, synth_map_fn fn, void *ctx,
		struct synth_result *result);

/* The same, and files that are mapped to be read come as well: map.data tells. */
int synth__data_maps(const pid_t *pids, size_t nr, int deadline_ms, synth_map_fn fn, void *ctx,
		     struct synth_result *result);

/*
 * Parses one line of /proc/PID/maps (no newline, len bytes, NUL not needed). Returns 1
 * and fills map if it is an executable mapping, 0 and the same for another one,
 * -EINVAL if the line is malformed. path_buf (PATH_MAX) receives the path, the kernel's
 * one escape (\012, a newline) decoded, and is what map->path points to. A path that is too long
 * for it is "//toolong", as in the kernel's own records.
 */
int synth__parse_maps_line(const char *line, size_t len, struct task_map *map, char *path_buf);

/* The kernel's own mappings, for PERF_RECORD_MMAP of pid -1. */
typedef int (*synth_kernel_fn)(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff,
			       const char *name);

/*
 * Calls fn for the kernel ("[kernel.kallsyms]_text", or _stext where there is no _text;
 * start and pgoff at its address, up to _edata, else _etext, else the first module, as
 * perf does), then for each module of /proc/modules, by ascending address (pgoff 0, the path
 * of its file, or "[name]" where none is known). name is valid in the callback.
 * 0, -ENODATA if neither bound of the text is known (fn is not called then), or fn's or our
 * own negative errno; a kernel without modules is no error.
 */
int synth__kernel(const struct kallsyms_bounds *bounds, synth_kernel_fn fn, void *ctx);

/* Where synth__kernel() reads; the last is the directory of the release's modules. */
struct synth_kernel_files {
	const char *modules;
	const char *modules_dir;
};

/* synth__kernel() for other files. */
int synth__kernel_of(const struct synth_kernel_files *files, const struct kallsyms_bounds *bounds,
		     synth_kernel_fn fn, void *ctx);

#endif /* DENET_SYNTH_H */
