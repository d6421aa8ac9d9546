/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_SNAPSHOT_H
#define DENET_MACHINE_SNAPSHOT_H

#include "machine/machine.h"

/*
 * The state that a later file of a recording begins with, so that it can be read by itself: /proc
 * no longer shows tasks that have ended, and may not answer. Calls fn with events of time 0 for the
 * kernel's maps, then for the threads and names of all processes that the machine knows, then for
 * their mappings. Stops at fn's first result other than 0, which is returned; -ENOMEM.
 */
int snapshot__tell(const struct machine *machine,
		   int (*fn)(void *ctx, const struct task_event *event), void *ctx);

/*
 * The same for one process as it was at a time, followed by its threads' later names and its later
 * mappings, with their times. Mappings that began and ended since are left out.
 */
int snapshot__tell_process(const struct process *process, uint64_t time,
			   int (*fn)(void *ctx, const struct task_event *event), void *ctx);

#endif /* DENET_MACHINE_SNAPSHOT_H */
