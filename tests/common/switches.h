/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_SWITCHES_H
#define DENET_TESTS_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How often a thread has left its CPU so far, by the kernel's own count. */
struct switches {
	uint64_t voluntary;   /* to wait; also the one of a wait that has not ended */
	uint64_t involuntary; /* preempted, or to let others run */
};

/*
 * Reads the counts of a thread. 1 if its state before that was sleeping, 0 if not, or -errno. The
 * state changes before the thread leaves its CPU: wait for a count that has grown.
 */
int switches__read(pid_t tid, struct switches *switches);

/*
 * False while the thread is on a CPU, also on its way off, and mostly if it is about to come to
 * one.
 */
bool switches__has_left(pid_t tid);

/*
 * Waits, some seconds at most, until the thread sleeps and has left its CPU, and reads its
 * counts; they don't move before it wakes up. 0, -ETIMEDOUT, or -errno if there is no such thread.
 */
int switches__of_sleeper(pid_t tid, struct switches *switches);

/* Of a process, the child that it has; 0: it has none. */
pid_t switches__child(pid_t pid);

#endif /* DENET_TESTS_SWITCHES_H */
