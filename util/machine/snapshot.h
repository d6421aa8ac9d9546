/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_SNAPSHOT_H
#define DENET_MACHINE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "output/perfdata/writer.h"

/*
 * What a later file of a recording has to begin with, so that it can be read by itself: the
 * kernel's maps, and the names, parents and executable maps of the tasks that live, as the
 * records of the files before told them. Kept in memory, since /proc no longer knows who
 * has ended by then, and may not answer.
 */
struct snapshot;

/* NULL: no memory. */
struct snapshot *snapshot__new(void);
void snapshot__delete(struct snapshot *snapshot); /* accepts NULL */

/*
 * What happens. 0 or -ENOMEM. Once it holds PAST_MAX_BYTES, which is said, new maps are
 * not kept.
 */
#define SNAPSHOT_MAX_BYTES (32ULL << 20)
int snapshot__kernel_map(struct snapshot *snapshot, uint64_t start, uint64_t len, uint64_t pgoff,
		     const char *name);
int snapshot__map(struct snapshot *snapshot, const struct writer_mmap *map);
int snapshot__fork(struct snapshot *snapshot, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid);
int snapshot__comm(struct snapshot *snapshot, pid_t pid, pid_t tid, const char *comm);
void snapshot__exec(struct snapshot *snapshot, pid_t pid);
void snapshot__exit(struct snapshot *snapshot, pid_t tid);

/* A record of the kernel's side band, which the writer has taken. 0 or -ENOMEM. */
int snapshot__sideband(struct snapshot *snapshot, const void *event, size_t size);

/* A window has been drained: who ended before it began is forgotten. */
void snapshot__round(struct snapshot *snapshot);

/* Writes it all as records of time 0. 0 or a negative errno of the writer. */
int snapshot__write(const struct snapshot *snapshot, struct writer *writer);

#endif /* DENET_MACHINE_SNAPSHOT_H */
