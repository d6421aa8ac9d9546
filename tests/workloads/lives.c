/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that spend their lives in different ways: two that spin and one that naps share CPU
 * --cpu for --ms milliseconds, one spins on the last CPU, and --brief threads are born and end one
 * after another. count is for how long a thread waited for a CPU, as the kernel says at its end,
 * requested is its CPU time then, and bracket is the time from before its birth until it was
 * joined.
 */
#include "workload.h"

#include <sched.h>

struct life {
	struct waits truth;
	char comm[16];
	pthread_t thread;
	bool naps;
	int cpu;
	uint64_t ns;
	uint64_t born;
};

KNOWN static void spin(uint64_t until)
{
	while (workload__now() < until)
		;
}

KNOWN static void *live(void *arg)
{
	struct life *life = arg;
	uint64_t until = workload__now() + life->ns;
	cpu_set_t cpus;

	prctl(PR_SET_NAME, life->comm);
	CPU_ZERO(&cpus);
	CPU_SET(life->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
	waits__begin(&life->truth, life->naps ? "naps" : "spins", "spin");
	while (life->naps && workload__now() < until)
		workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
	spin(until);
	waits__end(&life->truth);
	life->truth.count = workload__run_delay();
	life->truth.requested_ns = workload__clock(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void begin(struct life *life)
{
	life->truth.comm = life->comm;
	life->born = workload__now();
	if (pthread_create(&life->thread, NULL, live, life))
		workload__fail("pthread_create", EAGAIN);
}

static void end(struct life *life)
{
	pthread_join(life->thread, NULL);
	life->truth.bracket_ns = workload__now() - life->born;
	waits__print(&life->truth);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "ms", 500 }, { "brief", 8 }, { "cpu", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	uint64_t ns = options[0].value * WORKLOAD_NSEC_PER_MSEC;
	int cpu = (int)options[2].value, last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	struct life lives[] = {
		{ .comm = "spinner-0", .cpu = cpu, .ns = ns },
		{ .comm = "spinner-1", .cpu = cpu, .ns = ns },
		{ .comm = "napper", .cpu = cpu, .ns = ns, .naps = true },
		{ .comm = "hog", .cpu = last, .ns = ns },
	};
	struct life brief;

	workload__ready(wait);
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		begin(&lives[i]);
	for (unsigned long i = 0; i < options[1].value; i++) {
		brief = (struct life){ .comm = "brief", .cpu = last,
				       .ns = WORKLOAD_NSEC_PER_MSEC / 4 };
		begin(&brief);
		end(&brief);
	}
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		end(&lives[i]);
	return 0;
}
