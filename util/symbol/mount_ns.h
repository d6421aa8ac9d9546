/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_MOUNT_NS_H
#define DENET_SYMBOL_MOUNT_NS_H

#include <stdint.h>
#include <sys/types.h>

struct dso_table;

/*
 * Which files a process sees under which names, by its mount namespace and its root: a number that
 * is the same for all who see the same, and MACHINE_VIEW_OURS for those that we see. 0, or -ESRCH
 * if it cannot be told: the process has ended, or is not ours to ask. Asks no file system.
 */
int mount_ns__of(pid_t pid, uint64_t *view);

/*
 * Tells the table which files the process sees that had the PID at time alive (CLOCK_MONOTONIC,
 * ns). Nothing if it has ended since. 0 or -ENOMEM.
 */
int mount_ns__look(struct dso_table *dso_table, pid_t pid, uint64_t alive);

#endif /* DENET_SYMBOL_MOUNT_NS_H */
