/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_PIDNS_H
#define DENET_HOST_PIDNS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The inode that stands for our PID namespace, or 0 in the first one, where the kernel's own
 * ids are ours. 0 or a negative errno.
 */
int pidns__inode(uint32_t *inode);

/*
 * Whether /proc shows the processes of our namespace, so that what is typed, what is read
 * there and what is recorded are the same ids. 0 or -EXDEV (logged).
 */
int pidns__check_proc(void);

/* Receives a thread by our id and by that of its own PID namespace. Not 0: an end, or an error. */
typedef int (*pidns_thread_fn)(void *ctx, pid_t tid, pid_t inner);

/*
 * Calls fn for the threads of a process, until it returns something else than 0: this is returned.
 * Takes no lock of a memory map.
 */
int pidns__each_thread(pid_t pid, pidns_thread_fn fn, void *ctx);

/*
 * The thread of a process, by an id of the process's own PID namespace; tid and pid are ours. 0: it
 * has no such thread, or has ended. Takes no lock of a memory map.
 */
pid_t pidns__find_thread(pid_t pid, pid_t inner);

#endif /* DENET_HOST_PIDNS_H */
