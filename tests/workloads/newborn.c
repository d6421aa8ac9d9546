/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child that has been born and does not get a CPU: its parent keeps the only one that it may use,
 * with a real-time priority, from BORN until it is let go on, --ms milliseconds at most. Then the
 * child naps once and exits. Without the right to real-time priorities the workload ends with
 * status 77.
 */
#include "workload.h"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

KNOWN static void nap(uint64_t ns)
{
	workload__nanosleep(ns);
}

static void keep_a_cpu(void)
{
	struct sched_param first = { .sched_priority = 1 };
	int here = sched_getcpu();
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)(here < 0 ? 0 : here), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) < 0) {
		fprintf(stderr, "workload: sched_setscheduler: %s\n", strerror(errno));
		exit(77);
	}
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 800 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t until;
	pid_t child;

	keep_a_cpu();
	workload__ready(wait);
	until = workload__now() + options[0].value * WORKLOAD_NSEC_PER_MSEC;
	child = fork();
	if (child < 0)
		workload__fail("fork", errno);
	if (!child) {
		nap(WORKLOAD_NSEC_PER_MSEC);
		_exit(0);
	}
	printf("BORN\n");
	fflush(stdout);
	while (workload__now() < until && poll(&in, 1, 0) == 0)
		;
	waitpid(child, NULL, 0);
	return 0;
}
