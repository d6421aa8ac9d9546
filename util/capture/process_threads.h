/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_PROCESS_THREADS_H
#define DENET_CAPTURE_PROCESS_THREADS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/idmap.h"

/*
 * Which threads live, by process. That its first thread has ended is not the end of a process:
 * others may go on, or make it another program, by an exec that takes over the first one's id.
 * Threads are kept by their ids, not as a number, so that one who is told of twice, or who
 * was never told of, does no harm. Zero-initialised is empty.
 */
struct process_threads {
	struct idmap process_of; /* tid -> pid */
	struct idmap living;	 /* pid -> how many threads it has; never 0 */
};

/* A thread that lives. 0 or -ENOMEM. */
int process_threads__add(struct process_threads *threads, pid_t pid, pid_t tid);

/* A thread that has ended. One that is not known is no error. */
void process_threads__remove(struct process_threads *threads, pid_t tid);

/* A process that is gone: forgets what it still has. */
void process_threads__forget(struct process_threads *threads, pid_t pid);

/* An exec: one thread is left, with the id of the process, if that is known. 0 or -ENOMEM. */
int process_threads__exec(struct process_threads *threads, pid_t pid);

/* How many threads of the process live. */
size_t process_threads__of(const struct process_threads *threads, pid_t pid);

/* How many processes have any. */
size_t process_threads__processes(const struct process_threads *threads);

void process_threads__free(struct process_threads *threads);

#endif /* DENET_CAPTURE_PROCESS_THREADS_H */
