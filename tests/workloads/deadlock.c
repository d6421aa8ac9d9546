/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two threads that hold each a mutex and wait for the other's, for ever, and one that
 * sleeps. Says READY once all three are blocked; with --wait they block only after the
 * first line on stdin, and BLOCKED is said then. Ends at the next line (or the end of
 * stdin), or after --limit seconds. Each truth is one wait that has not ended: requested
 * counts from when the thread was known to sleep, bracket from before it began, both to
 * the end.
 */
#include "workload.h"

#include <poll.h>

struct stuck {
	struct waits truth;
	pthread_t thread;
	pthread_mutex_t *first;
	pthread_mutex_t *second;
	pthread_barrier_t *both;
	int about; /* what follows is the wait */
	unsigned long long before; /* how often the thread had left its CPU before it */
	uint64_t begin;
	uint64_t asleep;
};

static struct gate gate = GATE_INIT;

KNOWN static void lock_second(struct stuck *stuck)
{
	pthread_mutex_lock(stuck->second);
}

KNOWN static void lock_both(struct stuck *stuck)
{
	pthread_mutex_lock(stuck->first);
	pthread_barrier_wait(stuck->both);
	stuck->begin = workload__now();
	stuck->before = workload__voluntary();
	__atomic_store_n(&stuck->about, 1, __ATOMIC_RELEASE);
	lock_second(stuck);
}

KNOWN static void wait_forever(void)
{
	workload__nanosleep(3600 * WORKLOAD_NSEC_PER_SEC);
}

KNOWN static void *start_locking(void *arg)
{
	struct stuck *stuck = arg;

	prctl(PR_SET_NAME, stuck->truth.comm);
	waits__begin(&stuck->truth, "mutex", "-");
	gate__pass(&gate);
	lock_both(stuck);
	return NULL;
}

KNOWN static void *start_sleeping(void *arg)
{
	struct stuck *stuck = arg;

	prctl(PR_SET_NAME, stuck->truth.comm);
	waits__begin(&stuck->truth, "nanosleep", "wait_forever");
	gate__pass(&gate);
	stuck->begin = workload__now();
	stuck->before = workload__voluntary();
	__atomic_store_n(&stuck->about, 1, __ATOMIC_RELEASE);
	wait_forever();
	return NULL;
}

static void stuck__wait_asleep(struct stuck *stuck)
{
	while (!__atomic_load_n(&stuck->about, __ATOMIC_ACQUIRE) ||
	       !workload__sleeps(stuck->truth.tid, stuck->before))
		workload__nanosleep(100000);
	stuck->asleep = workload__now();
}

static void stuck__print(struct stuck *stuck)
{
	uint64_t now = workload__now();

	stuck->truth.count = 1;
	stuck->truth.requested_ns = now - stuck->asleep;
	stuck->truth.bracket_ns = now - stuck->begin;
	stuck->truth.voluntary = 0;
	stuck->truth.involuntary = 0;
	waits__print(&stuck->truth);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "limit", 30 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
	pthread_barrier_t both;
	struct stuck stuck[3] = {
		{ .truth.comm = "lock-ab", .first = &a, .second = &b, .both = &both },
		{ .truth.comm = "lock-ba", .first = &b, .second = &a, .both = &both },
		{ .truth.comm = "sleeper" },
	};

	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 3; i++) {
		void *(*start)(void *) = i < 2 ? start_locking : start_sleeping;

		if (pthread_create(&stuck[i].thread, NULL, start, &stuck[i]))
			workload__fail("pthread_create", EAGAIN);
	}
	if (wait)
		workload__ready(true);
	gate__open(&gate);
	for (int i = 0; i < 3; i++)
		stuck__wait_asleep(&stuck[i]);
	printf("%s\n", wait ? "BLOCKED" : "READY");
	fflush(stdout);
	poll(&end, 1, (int)options[0].value * 1000);
	for (int i = 0; i < 3; i++)
		stuck__print(&stuck[i]);
	/* The threads never return: nothing is joined, the process just ends. */
	fflush(stdout);
	_exit(0);
}
