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
struct past;

/* NULL: no memory. */
struct past *past__new(void);
void past__delete(struct past *past); /* accepts NULL */

/*
 * What happens. 0 or -ENOMEM. Once it holds PAST_MAX_BYTES, which is said, new maps are
 * not kept.
 */
#define PAST_MAX_BYTES (32ULL << 20)
int past__kernel_map(struct past *past, uint64_t start, uint64_t len, uint64_t pgoff,
		     const char *name);
int past__map(struct past *past, const struct writer_mmap *map);
int past__fork(struct past *past, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid);
int past__comm(struct past *past, pid_t pid, pid_t tid, const char *comm);
void past__exec(struct past *past, pid_t pid);
void past__exit(struct past *past, pid_t tid);

/* A record of the kernel's side band, which the writer has taken. 0 or -ENOMEM. */
int past__sideband(struct past *past, const void *event, size_t size);

/* A window has been drained: who ended before it began is forgotten. */
void past__round(struct past *past);

/* Writes it all as records of time 0. 0 or a negative errno of the writer. */
int past__write(const struct past *past, struct writer *writer);

#endif /* DENET_MACHINE_SNAPSHOT_H */
