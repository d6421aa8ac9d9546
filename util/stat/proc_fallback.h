/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_PROC_FALLBACK_H
#define DENET_STAT_PROC_FALLBACK_H

#include <stddef.h>
#include <sys/types.h>

#include "capture/options.h"
#include "stat/stat_data.h"

/*
 * Where BPF is not to be had: running and runnable time, and how often a thread left the CPU, as
 * /proc has them for each thread (schedstat, status), and waits for block I/O where delay
 * accounting is on (kernel.task_delayacct), as state D. What a thread does after the last look at
 * it, and threads that live in between, are missing. Reading these files waits for no lock of the
 * process.
 */
struct proc_fallback;

/* NULL: no memory. */
struct proc_fallback *proc_fallback__new(void);

/*
 * Looks at all threads of these processes. The first call is the start of the measurement: what
 * threads have done before does not count. 0 or -ENOMEM.
 */
int proc_fallback__look(struct proc_fallback *fallback, const pid_t *pids, size_t nr);

/*
 * Fills the tasks of data, which is empty before, and its start_ns, end_ns, parts and from_proc,
 * with the state at the last look, of all threads that are targets: their descendants are those
 * that came during the measurement, with targets->children all others, too. 0 or -ENOMEM.
 */
int proc_fallback__fill(const struct proc_fallback *fallback,
			const struct capture_targets *targets, struct stat_data *data);

/* Accepts NULL. */
void proc_fallback__delete(struct proc_fallback *fallback);

#endif /* DENET_STAT_PROC_FALLBACK_H */
