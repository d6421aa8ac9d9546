/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread "starved" sleeps for --ms milliseconds on CPU 0, where a real-time thread, "hog",
 * has begun to spin meanwhile: it is woken and gets no CPU. HOGGING is said once that is so,
 * after a truth that tells how long it was blocked at least; the hog goes on for --hog
 * milliseconds.
 */
#include "workload.h"

#include <sched.h>

static struct gate gate = GATE_INIT;
static int starved_tid;
static uint64_t sleep_ns, hog_ns;
static struct waits truth = { .comm = "starved", .count = 1 };
static unsigned long long before; /* how often it had left its CPU before it slept */
static uint64_t due; /* it is not woken before; 0: it is not about to sleep */

static void stay_on_first(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
}

KNOWN static void sleep_and_starve(void)
{
	workload__nanosleep(sleep_ns);
}

KNOWN static void *start_starving(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "starved");
	stay_on_first();
	__atomic_store_n(&starved_tid, workload__tid(), __ATOMIC_RELEASE);
	gate__pass(&gate);
	waits__begin(&truth, "nanosleep", "sleep_and_starve");
	before = workload__voluntary();
	__atomic_store_n(&due, workload__now() + sleep_ns, __ATOMIC_RELEASE);
	sleep_and_starve();
	return NULL;
}

static void spin_until(uint64_t end)
{
	while (workload__now() < end)
		;
}

static void *start_hogging(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	uint64_t start, end;

	(void)arg;
	prctl(PR_SET_NAME, "hog");
	stay_on_first();
	gate__pass(&gate);
	/* The sleeper sleeps before the CPU is taken, on which it would not come that far. */
	while (!__atomic_load_n(&due, __ATOMIC_ACQUIRE) ||
	       !workload__sleeps(starved_tid, before))
		workload__nanosleep(100000);
	start = workload__now();
	end = __atomic_load_n(&due, __ATOMIC_ACQUIRE);
	truth.requested_ns = end > start ? end - start : 0;
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		workload__fail("sched_setscheduler", errno);
	start = workload__now();
	spin_until(start + 2 * sleep_ns);
	waits__print(&truth);
	printf("HOGGING\n");
	fflush(stdout);
	spin_until(start + hog_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 50 }, { "hog", 600 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	pthread_t starved, hog;

	sleep_ns = options[0].value * WORKLOAD_NSEC_PER_MSEC;
	hog_ns = options[1].value * WORKLOAD_NSEC_PER_MSEC;
	if (pthread_create(&starved, NULL, start_starving, NULL))
		workload__fail("pthread_create", EAGAIN);
	while (!__atomic_load_n(&starved_tid, __ATOMIC_ACQUIRE))
		workload__nanosleep(100000);
	if (pthread_create(&hog, NULL, start_hogging, NULL))
		workload__fail("pthread_create", EAGAIN);
	workload__ready(wait);
	gate__open(&gate);
	pthread_join(hog, NULL);
	pthread_join(starved, NULL);
	return 0;
}
