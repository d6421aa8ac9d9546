/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --threads threads that wait on a pipe, for the benchmark of denet-top, from READY until it is
 * over, --depth frames deep; --us: that sleep so long instead, again and again. They have waited
 * for --ms milliseconds at DONE.
 */
#include "workload.h"

/* Nothing is ever written to it. */
static int ends[2];
static unsigned long us;
static unsigned long nr_waiting;

KNOWN static void wait_forever(void)
{
	char c;

	while (us)
		workload__nanosleep(us * 1000);
	while (workload__syscall(SYS_read, ends[0], (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

KNOWN static void descend(unsigned long depth)
{
	if (depth) {
		descend(depth - 1);
		return;
	}
	__atomic_add_fetch(&nr_waiting, 1, __ATOMIC_RELEASE);
	wait_forever();
}

KNOWN static void *start_waiting(void *arg)
{
	prctl(PR_SET_NAME, "waiting");
	descend(*(unsigned long *)arg);
	return NULL;
}

/* Small stacks, of which there are many. */
static void create(unsigned long *depth)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 64 * 1024) ||
	    pthread_create(&thread, &attr, start_waiting, depth))
		workload__fail("pthread_create", EAGAIN);
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "threads", 100 }, { "ms", 1000 }, { "depth", 10 },
		{ "us", 0 }, { "linger", 0 }, { 0 },
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value;

	us = options[3].value;
	if (pipe2(ends, O_CLOEXEC) < 0)
		workload__fail("pipe2", errno);
	for (unsigned long i = 0; i < nr; i++)
		create(&options[2].value);
	while (__atomic_load_n(&nr_waiting, __ATOMIC_ACQUIRE) != nr)
		workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
	workload__ready(wait);
	workload__nanosleep(options[1].value * WORKLOAD_NSEC_PER_MSEC);
	workload__done(options[4].value);
	return 0;
}
