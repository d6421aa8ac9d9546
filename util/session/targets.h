/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_TARGETS_H
#define DENET_SESSION_TARGETS_H

#include <stddef.h>

#include "base/id_list.h"
#include "capture/capture.h"

/*
 * Checks that each process and each thread exists, before anything is made. 0, or -ESRCH if one
 * does not, -EINVAL if a thread is given as a process (both logged).
 */
int targets__check(const struct id_list *pids, const struct id_list *tids);

/*
 * Compares the targets of the options with the nr tasks that the kernel showed at the start. A
 * target that is alive but not recorded (the kernel does not show it, a kernel thread) is a
 * warning, and so is one that has ended before the noun ("recording") began. So are, without
 * capture_targets.children, living descendants of targets, with their number; this process and its
 * children don't count. 0, or -ESRCH if none is recorded and one of them is alive (logged).
 */
int targets__look(const struct capture_targets *targets, const struct capture_task *tasks,
		  size_t nr, const char *noun);

/* At the end: warns if cgroups that narrowed the targets were removed meanwhile. */
void targets__warn_of_gone_groups(const struct capture_targets *targets);

#endif /* DENET_SESSION_TARGETS_H */
