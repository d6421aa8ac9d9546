/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_SNAPSHOT_H
#define DENET_MACHINE_SNAPSHOT_H

#include "machine/machine.h"

/*
 * What a later file of a recording has to begin with, so that it can be read by itself: /proc no
 * longer knows who has ended by then, and may not answer. Calls fn with events of time 0 for the
 * kernel's maps, then the threads and names of all processes that the machine knows, then what
 * these have mapped. Stops at fn's first result other than 0, which is returned; -ENOMEM.
 */
int snapshot__tell(const struct machine *machine,
		   int (*fn)(void *ctx, const struct task_event *event), void *ctx);

/*
 * The same of one process, as it was at a time, and then, with their times, what its threads were
 * called and what it mapped since. Of what ended meanwhile, only names are told.
 */
int snapshot__tell_process(const struct process *process, uint64_t time,
			   int (*fn)(void *ctx, const struct task_event *event), void *ctx);

#endif /* DENET_MACHINE_SNAPSHOT_H */
