/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs of threads: w-WAY waits --count times for at least --ms milliseconds, until k-WAY
 * wakes it in the function wake_by_WAY. A pair prints two truths, with the same times: the
 * waiter's, and the waker's, whose function is where it wakes. --cpu (from 1 on; 0: any)
 * keeps all threads on the CPU with that number less one.
 */
#include "workload.h"

#include <linux/futex.h>
#include <sched.h>

struct pair {
	const char *hook;
	const char *wait_function;
	const char *wake_function;
	void (*wait)(struct pair *pair);
	void (*wake)(struct pair *pair);
	struct waits waiting;
	struct waits waking;
	char waiter_comm[16];
	char waker_comm[16];
	pthread_t waiter;
	pthread_t waker;
	unsigned long count;
	uint64_t ns;
	int tid; /* of the waiter */
	int futex;
	int fds[2];
	unsigned long round; /* the wait that is about to begin, from 1 */
	unsigned long long before; /* how often the waiter had left its CPU before it */
	uint64_t asked;
};

static struct gate gate = GATE_INIT;

KNOWN static void wait_for_futex(struct pair *pair)
{
	while (!__atomic_load_n(&pair->futex, __ATOMIC_ACQUIRE))
		workload__syscall(SYS_futex, (long)&pair->futex, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	__atomic_store_n(&pair->futex, 0, __ATOMIC_RELEASE);
}

KNOWN static void wake_by_futex(struct pair *pair)
{
	__atomic_store_n(&pair->futex, 1, __ATOMIC_RELEASE);
	workload__syscall(SYS_futex, (long)&pair->futex, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

KNOWN static void wait_for_pipe(struct pair *pair)
{
	char c;

	while (workload__syscall(SYS_read, pair->fds[0], (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

KNOWN static void wake_by_pipe(struct pair *pair)
{
	while (workload__syscall(SYS_write, pair->fds[1], (long)"x", 1, 0, 0, 0) == -EINTR)
		;
}

KNOWN static void *start_waiting(void *arg)
{
	struct pair *pair = arg;

	prctl(PR_SET_NAME, pair->waiter_comm);
	__atomic_store_n(&pair->tid, workload__tid(), __ATOMIC_RELEASE);
	gate__pass(&gate);
	waits__begin(&pair->waiting, pair->hook, pair->wait_function);
	for (unsigned long i = 1; i <= pair->count; i++) {
		uint64_t start = workload__now();

		pair->before = workload__voluntary();
		__atomic_store_n(&pair->round, i, __ATOMIC_RELEASE);
		pair->wait(pair);
		pair->waiting.bracket_ns += workload__now() - start;
	}
	waits__end(&pair->waiting);
	return NULL;
}

/* Its clock runs only while the waiter is known to sleep. */
KNOWN static void *start_waking(void *arg)
{
	struct pair *pair = arg;
	uint64_t start;

	prctl(PR_SET_NAME, pair->waker_comm);
	gate__pass(&gate);
	waits__begin(&pair->waking, pair->hook, pair->wake_function);
	for (unsigned long i = 1; i <= pair->count; i++) {
		while (__atomic_load_n(&pair->round, __ATOMIC_ACQUIRE) != i ||
		       !workload__sleeps(pair->tid, pair->before))
			workload__nanosleep(100000);
		start = workload__now();
		workload__nanosleep(pair->ns);
		pair->asked += workload__now() - start;
		pair->wake(pair);
	}
	waits__end(&pair->waking);
	return NULL;
}

static void pair__start(struct pair *pair, unsigned long count, uint64_t ns)
{
	int err;

	pair->count = count;
	pair->ns = ns;
	snprintf(pair->waiter_comm, sizeof(pair->waiter_comm), "w-%s", pair->hook);
	snprintf(pair->waker_comm, sizeof(pair->waker_comm), "k-%s", pair->hook);
	if (pipe(pair->fds) < 0)
		workload__fail("pipe", errno);
	err = pthread_create(&pair->waiter, NULL, start_waiting, pair);
	if (!err)
		err = pthread_create(&pair->waker, NULL, start_waking, pair);
	if (err)
		workload__fail("pthread_create", err);
	while (!__atomic_load_n(&pair->tid, __ATOMIC_ACQUIRE))
		workload__nanosleep(100000);
}

static void pair__finish(struct pair *pair)
{
	pthread_join(pair->waiter, NULL);
	pthread_join(pair->waker, NULL);
	pair->waiting.comm = pair->waiter_comm;
	pair->waking.comm = pair->waker_comm;
	pair->waiting.count = pair->waking.count = pair->count;
	pair->waiting.requested_ns = pair->waking.requested_ns = pair->asked;
	pair->waking.bracket_ns = pair->waiting.bracket_ns;
	waits__print(&pair->waiting);
	waits__print(&pair->waking);
}

static void stay_on(unsigned long cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "count", 10 }, { "ms", 10 }, { "cpu", 0 }, { 0 } };
	static struct pair pairs[] = {
		{ .hook = "futex", .wait_function = "wait_for_futex",
		  .wake_function = "wake_by_futex", .wait = wait_for_futex, .wake = wake_by_futex },
		{ .hook = "pipe", .wait_function = "wait_for_pipe",
		  .wake_function = "wake_by_pipe", .wait = wait_for_pipe, .wake = wake_by_pipe },
	};
	bool wait = workload__parse(argc, argv, options);

	if (options[2].value)
		stay_on(options[2].value - 1);
	for (size_t i = 0; i < 2; i++)
		pair__start(&pairs[i], options[0].value,
			    options[1].value * WORKLOAD_NSEC_PER_MSEC);
	workload__ready(wait);
	gate__open(&gate);
	for (size_t i = 0; i < 2; i++)
		pair__finish(&pairs[i]);
	return 0;
}
