/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread "starved" sleeps on CPU 0 until the real-time thread "hog", which has the same CPU,
 * wakes it, --ms milliseconds later, and spins: it is woken and gets no CPU. HOGGING is said once
 * that is so, after a truth that tells how long it was blocked at least. The hog goes on until a
 * line is on stdin, for --hog milliseconds at most: the kernel takes the CPU from it after 950.
 * "BACK NS LOST" tells when, by CLOCK_MONOTONIC, the other was back from its call, and how often it
 * had lost a CPU by then, on which it was earlier.
 */
#include "workload.h"

#include <poll.h>
#include <sched.h>

static struct gate gate = GATE_INIT;
static int starved_tid;
static int ends[2]; /* of the pipe that it reads */
static uint64_t sleep_ns, hog_ns, back;
static long lost;
static struct waits truth = { .comm = "starved", .count = 1 };
static unsigned long long before; /* how often it had left its CPU before it slept */
static bool about_to_sleep;

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
	char c;

	while (workload__syscall(SYS_read, ends[0], (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

static long involuntary(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

KNOWN static void *start_starving(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "starved");
	stay_on_first();
	__atomic_store_n(&starved_tid, workload__tid(), __ATOMIC_RELEASE);
	gate__pass(&gate);
	waits__begin(&truth, "pipe", "sleep_and_starve");
	before = workload__voluntary();
	lost = involuntary();
	__atomic_store_n(&about_to_sleep, true, __ATOMIC_RELEASE);
	sleep_and_starve();
	back = workload__now();
	lost = involuntary() - lost;
	return NULL;
}

static void spin_until(uint64_t end)
{
	while (workload__now() < end)
		;
}

static bool told_to_end(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) == 1;
}

static void *start_hogging(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	uint64_t start;

	(void)arg;
	prctl(PR_SET_NAME, "hog");
	stay_on_first();
	gate__pass(&gate);
	while (!__atomic_load_n(&about_to_sleep, __ATOMIC_ACQUIRE) ||
	       !workload__sleeps(starved_tid, before))
		workload__nanosleep(100000);
	start = workload__now();
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		workload__fail("sched_setscheduler", errno);
	workload__nanosleep(sleep_ns);
	truth.requested_ns = workload__now() - start;
	if (write(ends[1], "x", 1) != 1)
		workload__fail("write", errno);
	start = workload__now();
	spin_until(start + WORKLOAD_NSEC_PER_MSEC);
	waits__print(&truth);
	printf("HOGGING\n");
	fflush(stdout);
	while (!told_to_end() && workload__now() < start + hog_ns)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 50 }, { "hog", 900 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	pthread_t starved, hog;

	sleep_ns = options[0].value * WORKLOAD_NSEC_PER_MSEC;
	hog_ns = options[1].value * WORKLOAD_NSEC_PER_MSEC;
	if (pipe(ends) < 0)
		workload__fail("pipe", errno);
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
	printf("BACK %llu %ld\n", (unsigned long long)back, lost);
	return 0;
}
