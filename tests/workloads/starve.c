/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread "starved" sleeps for --ms milliseconds on CPU 0, where a real-time thread, "hog",
 * has begun to spin meanwhile: it is woken and gets no CPU. HOGGING is said once that is so;
 * the hog goes on for --hog milliseconds.
 */
#include "workload.h"

#include <sched.h>

static struct gate gate = GATE_INIT;
static int starved_tid;
static uint64_t sleep_ns, hog_ns;

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
	uint64_t start;

	(void)arg;
	prctl(PR_SET_NAME, "hog");
	stay_on_first();
	/* The sleeper sleeps before the CPU is taken, on which it would not come that far. */
	while (!workload__sleeps(starved_tid))
		workload__nanosleep(100000);
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		workload__fail("sched_setscheduler", errno);
	start = workload__now();
	spin_until(start + 2 * sleep_ns);
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
	workload__ready(wait);
	gate__open(&gate);
	if (pthread_create(&hog, NULL, start_hogging, NULL))
		workload__fail("pthread_create", EAGAIN);
	pthread_join(hog, NULL);
	pthread_join(starved, NULL);
	return 0;
}
