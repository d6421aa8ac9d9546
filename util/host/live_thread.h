/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_LIVE_THREAD_H
#define DENET_HOST_LIVE_THREAD_H

#include <sys/types.h>

/*
 * After the first thread of a process has ended and others go on (pthread_exit() in main),
 * /proc/PID has no memory, no root and no namespaces any more; /proc/TID of another thread has.
 * Returns the id of a live thread that we may read; 0: there is none, or pid itself can be read.
 * Takes no lock of a memory map.
 */
pid_t live_thread__other(pid_t pid);

/* The name of a thread that lives, with a NUL. 0, or a negative errno: there is none. */
int live_thread__comm(pid_t tid, char comm[16]);

#endif /* DENET_HOST_LIVE_THREAD_H */
