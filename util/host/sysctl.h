/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_SYSCTL_H
#define DENET_HOST_SYSCTL_H

#include <stddef.h>
#include <stdint.h>

/* Settings of this machine's administrator that affect a recording. */

/* How far the kernel is locked, from /sys/kernel/security/lockdown. */
enum lockdown {
	LOCKDOWN_UNKNOWN, /* no such file: a kernel without it, or it is not mounted */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

/* The mode in brackets of "none [integrity] confidentiality". */
enum lockdown lockdown__parse(const char *text);
enum lockdown lockdown__read(void);
const char *lockdown__name(enum lockdown lockdown);

/* A sysctl that holds one number, such as "kernel.kptr_restrict". 0 or a negative errno. */
int sysctl__read(const char *name, int64_t *value);

/*
 * Makes room for nr more descriptors: raises the soft limit as far as needed, and the hard one if
 * permitted. Children forked before keep their limits. 0, or -EMFILE if there is no room for so
 * many; *limit (may be NULL) is the limit then in force.
 */
int descriptors__reserve(size_t nr, uint64_t *limit);

#endif /* DENET_HOST_SYSCTL_H */
