/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_THREAD_GROUP_H
#define DENET_REPORT_THREAD_GROUP_H

#include <stddef.h>

/*
 * The group that a thread is in by its name, which has each number replaced by "*": "worker-12" is
 * in "worker-*". Returns buf; what finds no room in its size bytes is cut off.
 */
const char *thread_group__of(const char *comm, char *buf, size_t size);

/*
 * The text for a group of nr threads: "worker-* (12 threads)". comm: their only name, NULL: they
 * have several. Returns buf.
 */
const char *thread_group__words(const char *group, const char *comm, size_t nr, char *buf,
				size_t size);

#endif /* DENET_REPORT_THREAD_GROUP_H */
