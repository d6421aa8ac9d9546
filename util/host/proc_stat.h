/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_PROC_STAT_H
#define DENET_HOST_PROC_STAT_H

#include <stdint.h>
#include <sys/types.h>

/*
 * When a process was born, from /proc/PID/stat: CLOCK_MONOTONIC in ns, rounded down to a tick
 * (10 ms), and too early by the time that the machine was suspended since. 0 or a negative errno:
 * -ESRCH if it is gone.
 */
int proc_stat__born(pid_t pid, uint64_t *ns);

/* The parent of a process, from the same file. 0 or a negative errno: -ESRCH if it is gone. */
int proc_stat__parent(pid_t pid, pid_t *parent);

/* The field of /proc/PID/stat in the line, in ticks since boot; the pure part. 0 or -EPROTO. */
int proc_stat__parse_start(const char *line, uint64_t *ticks);

#endif /* DENET_HOST_PROC_STAT_H */
