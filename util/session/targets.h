/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_TARGETS_H
#define DENET_SESSION_TARGETS_H

#include <stddef.h>

#include "base/id_list.h"
#include "capture/capture.h"

/*
 * Looks whether each process and each thread is there, before anything is made. 0, or
 * -ESRCH where one is not, -EINVAL where a thread is given as a process (both logged).
 */
int targets__check(const struct id_list *pids, const struct id_list *tids);

/*
 * Holds the targets that options name against the tasks that the capture found when it started,
 * nr of them. One that lives and is not recorded (the kernel does not show it, a kernel thread)
 * is a warning, and so is one that has ended. 0, or -ESRCH if none is recorded and one of them
 * lives (logged).
 */
int targets__look(const struct capture_targets *targets, const struct capture_task *tasks,
		  size_t nr);

/*
 * How many living processes descend from targets that options name and are no targets: without
 * capture_targets.children. This process and what it started don't count.
 */
size_t targets__count_children(const struct capture_targets *targets,
			       const struct capture_task *tasks, size_t nr);

/* At the end: warns if cgroups that narrowed the targets were removed meanwhile. */
void targets__warn_of_gone_groups(const struct capture_targets *targets);

#endif /* DENET_SESSION_TARGETS_H */
