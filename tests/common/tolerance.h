/* SPDX-License-Identifier: GPL-2.0-only */
/* Allowances of tests for a noisy machine; those of bats files are in tolerance.bash. */
#ifndef DENET_TESTS_TOLERANCE_H
#define DENET_TESTS_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"

/*
 * DENET_TEST_WHOLE=1, as check.sh --all sets it: what takes long and seldom finds anything that no
 * other test does is run as well.
 */
bool tolerance__whole(void);

/* Percent by which clocks read at different places may differ. */
#define TOLERANCE_PERCENT 1

/* How far a time may be off that the kernel adds up, or tells, in ticks. */
#define TOLERANCE_TICK_NS (10 * NSEC_PER_MSEC)

/* How far the time of a switch in progress may differ between two readings. */
#define TOLERANCE_MOMENT_NS NSEC_PER_MSEC

/* How far the CPU time of a process that was reaped may be off, which is counted in us. */
#define TOLERANCE_REAPED_NS (10 * NSEC_PER_USEC)

/* The longest time between two hooks of one switch, which has interrupts off. */
#define TOLERANCE_SWITCH_NS (20 * NSEC_PER_USEC)

/*
 * Longest wait for a CPU at a place where nothing should preempt the thread: five times as long in
 * a guest without KVM, where a thread on the only CPU was preempted for 116 ms.
 */
uint64_t tolerance__preempted_ns(void);

/*
 * How many times as long a helper process may take for what a test asks of it, as its deadline or
 * in CPU time, while the deadline is what is tested: 5 in a guest without KVM, 1 elsewhere.
 */
int tolerance__slowness(void);

/*
 * How many times as much CPU time the same work may take where other programs share cores and
 * caches with it: 15 in a guest, which has no KVM. The level timing, with nothing beside it, sets
 * DENET_TEST_TIMING: 1.
 */
unsigned int tolerance__cpu_factor(void);

/*
 * How much of a thread's CPU time two readings of /proc show at least, in percent, that come right
 * before and after it. In a guest without KVM a reading takes some tens of milliseconds.
 */
unsigned int tolerance__seen_percent(void);

/*
 * For how long to wait for a condition before the test fails, in seconds. A guest without KVM is
 * ten times as slow, and slower on a busy host. run-tests.sh ends the program in any case.
 */
unsigned int tolerance__wait_seconds(void);

/* The same as a time of clock__now_ns(). */
uint64_t tolerance__deadline(void);

/*
 * A sleep of so many us, as text, that is not over before the thread has left its CPU: ten times as
 * long in a guest without KVM.
 */
const char *tolerance__nap(const char *us);

/*
 * Time for which a virtual machine's CPUs were ready to run and got no real one, by /proc/stat: ns
 * of all CPUs since boot, 0 where the hypervisor does not tell.
 */
uint64_t tolerance__stolen_ns(void);

/* The same since an earlier reading, rounded up: it is told in ticks. */
uint64_t tolerance__stolen_since(uint64_t before);

/*
 * How much of a thread's CPU clock may be missing in its running time, and of the kernel's account
 * of its waits for a CPU in its queued time. The scheduler charges a woken thread from the wake-up
 * on, though it gets the CPU at the switch, and reads its clock a little earlier than each switch
 * is shown. A guest without KVM may lose its CPU in between, for as long as its host likes: 8 of 23
 * ms in 61 switches, where ftrace, too, saw the thread on the CPU for 15.7. Time missing from one
 * thread is charged to the one before it there, so only sums can be compared.
 */
uint64_t tolerance__account_ns(uint64_t account_ns, uint64_t switches);

/*
 * By how much a thread's time may differ between two observers of the same switches, where so much
 * was stolen meanwhile. A guest without KVM does not know what its host took: up to 8 ms in a
 * switch were seen at a load of 20.
 */
uint64_t tolerance__between_hooks_ns(uint64_t stolen_ns);

/*
 * How much of ns of waits may be missing because a guest without KVM got no CPU, which its host
 * does not report. A fiftieth; on a host with a load of 80 it was a two-hundredth. Elsewhere 0.
 */
uint64_t tolerance__untold_ns(uint64_t ns);

/*
 * All switches so far of the threads of process 1. Some virtual machines' kernels hide from every
 * tracer all events while one of these threads runs: its switch from a CPU, and so the next
 * thread's to it, wake-ups, and interrupts meanwhile.
 */
struct init_switches {
	struct init_thread {
		pid_t tid;
		uint64_t count;
	} *threads;
	size_t nr;
	uint64_t running; /* of them, those that had not left their CPU to sleep */
};

/* More stretches than there can be; multiples of it still fit into 64 bits. */
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

#endif /* DENET_TESTS_TOLERANCE_H */
