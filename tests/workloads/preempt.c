/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --threads threads that spin for --ms milliseconds of wall time on CPU --cpu, which they
 * fight for: each is runnable, and not running, for about (threads - 1) / threads of the
 * time. requested is 0; bracket is the wall time less the CPU time that the thread got.
 */
#include "workload.h"

#include <sched.h>

struct spinner {
	struct waits truth;
	char comm[16];
	pthread_t thread;
	int cpu;
	uint64_t ns;
};

static struct gate gate = GATE_INIT;

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * WORKLOAD_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

KNOWN static void spin(uint64_t until)
{
	while (workload__now() < until)
		;
}

KNOWN static void *start_spinning(void *arg)
{
	struct spinner *spinner = arg;
	uint64_t start, cpu;
	cpu_set_t cpus;

	prctl(PR_SET_NAME, spinner->comm);
	CPU_ZERO(&cpus);
	CPU_SET(spinner->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
	gate__pass(&gate);
	waits__begin(&spinner->truth, "preempted", "spin");
	start = workload__now();
	cpu = cpu_time();
	spin(start + spinner->ns);
	cpu = cpu_time() - cpu;
	spinner->truth.bracket_ns = workload__now() - start;
	spinner->truth.bracket_ns -= cpu < spinner->truth.bracket_ns ? cpu : 0;
	waits__end(&spinner->truth);
	spinner->truth.count = spinner->truth.involuntary;
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "threads", 3 }, { "ms", 500 }, { "cpu", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value;
	struct spinner *spinners = calloc(nr + 1, sizeof(*spinners));

	if (!spinners)
		workload__fail("calloc", ENOMEM);
	for (unsigned long i = 0; i < nr; i++) {
		struct spinner *spinner = &spinners[i];

		spinner->ns = options[1].value * WORKLOAD_NSEC_PER_MSEC;
		spinner->cpu = (int)options[2].value;
		spinner->truth.comm = spinner->comm;
		snprintf(spinner->comm, sizeof(spinner->comm), "spinner-%u",
			 (unsigned int)(i % 1000));
		if (pthread_create(&spinner->thread, NULL, start_spinning, spinner))
			workload__fail("pthread_create", EAGAIN);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (unsigned long i = 0; i < nr; i++) {
		pthread_join(spinners[i].thread, NULL);
		waits__print(&spinners[i].truth);
	}
	free(spinners);
	return 0;
}
