/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_PERF_MAP_H
#define DENET_SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Functions made at run time (by Java, Node, Python): a file /tmp/perf-PID.map with a line "START
 * SIZE NAME" for each function, in hexadecimal.
 */

/*
 * Parses a line (no newline, len bytes, NUL not needed). The name points into the line. 0, or
 * -EINVAL.
 */
int perf_map__parse_line(const char *line, size_t len, uint64_t *start, uint64_t *size,
			 const char **name, size_t *name_len);

/*
 * Opens the file of a process that lived at a time (CLOCK_MONOTONIC, ns) and was born at one
 * (0: not known): below the process's root and under the PID that it has itself, or, once it has
 * ended, below our root. The file is of the process's user or of root, and was written while the
 * process lived. A descriptor or a negative errno: -ENOENT if there is none, -EPERM if it is of
 * somebody else, -ESTALE if it is an earlier process's.
 */
int perf_map__open(pid_t pid, uint64_t alive, uint64_t born);

/*
 * Calls fn with each function of an open file, in the order of its lines: of two that overlap, the
 * later one is right. Stops at fn's first result other than 0, which is returned; or a negative
 * errno.
 */
typedef int (*perf_map_fn)(void *ctx, uint64_t start, uint64_t end, const char *name, size_t len);
int perf_map__each(int fd, perf_map_fn fn, void *ctx);

#endif /* DENET_SYMBOL_PERF_MAP_H */
