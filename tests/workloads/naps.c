/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naps THREADS COUNT MS [counts]: named threads, each of which sleeps COUNT times for MS
 * milliseconds in take_nap(). Prints READY when all of them have begun; with a fourth word,
 * each tells how often it left its CPU to wait between its first nap and its last, by the
 * kernel's count: a nap that is over before the thread has gone is none; and of how many ns it
 * was off its CPU for how many, by its own clocks: a nap that is begun late is a short one.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct naps {
	unsigned long count;
	unsigned long ms;
	bool counts;
	pthread_barrier_t begun;
};

/* libc's code has no frame pointers, so the function that calls it is lost: this one. */
static void call_libc(unsigned long ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000),
				 .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}

static void take_nap(unsigned long ms)
{
	call_libc(ms);
	/* So that the call is not the last thing, and this function stays in the chain. */
	__asm__ volatile("" ::: "memory");
}

static long waits_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *run_thread(void *arg)
{
	struct naps *naps = arg;
	uint64_t wall, cpu;
	char name[16];
	long waits;

	pthread_barrier_wait(&naps->begun);
	waits = waits_so_far();
	cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	wall = read_clock(CLOCK_MONOTONIC);
	for (unsigned long i = 0; i < naps->count; i++)
		take_nap(naps->ms);
	wall = read_clock(CLOCK_MONOTONIC) - wall;
	cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	waits = waits_so_far() - waits;
	prctl(PR_GET_NAME, name);
	if (naps->counts)
		printf("%s waited %ld times, for %ju of %ju ns\n", name, waits,
		       (uintmax_t)(wall > cpu ? wall - cpu : 0), (uintmax_t)wall);
	return NULL;
}

int main(int argc, char **argv)
{
	struct naps naps;
	pthread_t threads[64];
	unsigned long nr;
	char name[16];

	if (argc < 4 || argc > 5)
		return 2;
	nr = strtoul(argv[1], NULL, 10);
	naps.count = strtoul(argv[2], NULL, 10);
	naps.ms = strtoul(argv[3], NULL, 10);
	naps.counts = argc == 5;
	if (nr < 1 || nr > sizeof(threads) / sizeof(threads[0]))
		return 2;
	pthread_barrier_init(&naps.begun, NULL, (unsigned int)nr + 1);
	for (unsigned long i = 0; i < nr; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, &naps))
			return 1;
		snprintf(name, sizeof(name), "napper-%lu", i);
		pthread_setname_np(threads[i], name);
	}
	pthread_barrier_wait(&naps.begun);
	puts("READY");
	fflush(stdout);
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
