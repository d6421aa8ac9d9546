/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_SWITCHES_H
#define DENET_TESTS_SWITCHES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How often a thread has left its CPU so far, by the kernel's own count. */
struct switches {
	uint64_t voluntary;   /* to wait; also the one of a wait that has not ended */
	uint64_t involuntary; /* preempted, or to let others run */
};

/*
 * Reads the counts of a thread. 1 if it said before that it sleeps, 0 if not, or -errno. It
 * says so before it has left its CPU: look for a count that has grown.
 */
int switches__read(pid_t tid, struct switches *switches);

/*
 * Waits, some seconds at most, until the thread sleeps and has left its CPU, and reads its
 * counts; they don't move before it wakes up. 0, -ETIMEDOUT, or -errno if there is no such thread.
 */
int switches__of_sleeper(pid_t tid, struct switches *switches);

/* Of a process, the child that it has; 0: it has none. */
pid_t switches__child(pid_t pid);

/*
 * All switches so far of the threads of process 1. There are virtual machines whose kernel
 * shows nothing that happens while one of these runs, to no tracer: neither that it leaves a
 * CPU, and so who comes next, nor whom it wakes, or an interrupt meanwhile.
 */
struct init_switches {
	struct init_thread {
		pid_t tid;
		uint64_t count;
	} *threads;
	size_t nr;
	uint64_t running; /* of them, those that had not left their CPU to sleep */
};

/* More stretches than there can be, of which a multiple is a number, too. */
#define INIT_UNKNOWN UINT32_MAX

/* Reads them; the caller frees. 0 or -errno. */
int init_switches__read(struct init_switches *init);

/*
 * How often a thread of process 1 was on a CPU between two readings, at most: each time ends
 * with a switch, but for those that had not ended at the second. INIT_UNKNOWN if one of the
 * threads of the first reading is gone, as is its count.
 */
uint64_t init_switches__stretches(const struct init_switches *from,
				  const struct init_switches *to);

/* Frees what was read; a zeroed one is accepted. */
void init_switches__free(struct init_switches *init);

#endif /* DENET_TESTS_SWITCHES_H */
