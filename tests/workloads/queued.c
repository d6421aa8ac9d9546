/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --threads threads that spin, and one, "sleeper", that sleeps a millisecond again and again, all
 * on CPU --cpu for --ms milliseconds: the spinners are preempted, the sleeper is woken and has to
 * wait. requested is how long the kernel says that a thread waited for the CPU between its begin
 * and its end (/proc/PID/task/TID/schedstat); bracket is that from its birth on, and all the time
 * until it could be joined.
 */
#include "workload.h"

#include <sched.h>

struct member {
	struct waits truth;
	char comm[16];
	pthread_t thread;
	bool sleeps;
	uint64_t last; /* when it looked for the last time */
};

static struct gate gate = GATE_INIT;
static uint64_t length_ns;
static int cpu;

KNOWN static void spin(uint64_t until)
{
	while (workload__now() < until)
		;
}

KNOWN static void sleep_often(uint64_t until)
{
	while (workload__now() < until)
		workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
}

static void *start_member(void *arg)
{
	struct member *member = arg;
	unsigned long long before, after;
	cpu_set_t cpus;

	prctl(PR_SET_NAME, member->comm);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		workload__fail("sched_setaffinity", errno);
	gate__pass(&gate);
	waits__begin(&member->truth, "queued", member->sleeps ? "sleep_often" : "spin");
	before = workload__run_delay();
	if (member->sleeps)
		sleep_often(workload__now() + length_ns);
	else
		spin(workload__now() + length_ns);
	waits__end(&member->truth);
	member->last = workload__now();
	after = workload__run_delay();
	member->truth.requested_ns = after - before;
	member->truth.bracket_ns = after;
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "threads", 2 }, { "ms", 500 }, { "cpu", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value + 1;
	struct member *members = calloc(nr, sizeof(*members));

	if (!members)
		workload__fail("calloc", ENOMEM);
	length_ns = options[1].value * WORKLOAD_NSEC_PER_MSEC;
	cpu = (int)options[2].value;
	for (unsigned long i = 0; i < nr; i++) {
		struct member *member = &members[i];

		member->sleeps = !i;
		member->truth.comm = member->comm;
		snprintf(member->comm, sizeof(member->comm), "spinner-%u",
			 (unsigned int)(i % 1000));
		if (member->sleeps)
			snprintf(member->comm, sizeof(member->comm), "sleeper");
		if (pthread_create(&member->thread, NULL, start_member, member))
			workload__fail("pthread_create", EAGAIN);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (unsigned long i = 0; i < nr; i++) {
		pthread_join(members[i].thread, NULL);
		members[i].truth.bracket_ns += workload__now() - members[i].last;
		waits__print(&members[i].truth);
	}
	free(members);
	return 0;
}
