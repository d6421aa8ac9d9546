/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_SIDEBAND_H
#define DENET_OUTPUT_PERFDATA_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Checks a record of the kernel's side band (MMAP, MMAP2, COMM, FORK, EXIT, CGROUP) that
 * ends in a sample_id of pid, tid, time, cpu and id: the only kinds that are written. Its
 * size field must be size, all fixed fields must be there, and names must end in a NUL
 * within the record. 0 or -EINVAL.
 */
int sideband__check(const void *event, size_t size);

/* Checks the record and appends it with its id replaced. 0, -EINVAL or -ENOMEM. */
int sideband__encode(struct buffer *out, uint64_t id, const void *event, size_t size);

#endif /* DENET_OUTPUT_PERFDATA_SIDEBAND_H */
