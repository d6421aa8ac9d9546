/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A convoy: --threads threads take turns with one lock, handed over in the order of arrival,
 * --rounds times each. A thread that unlocks queues up behind all others, so that nearly each turn
 * is a wait on a futex and a wake-up. --depth: so many frames lie below.
 */
#include "workload.h"

#include <linux/futex.h>

struct member {
	struct waits truth;
	pthread_t thread;
	unsigned long rounds;
	unsigned long depth;
	unsigned int first; /* taken before the start, so that the queue is never empty */
	char comm[16];
};

static struct gate gate = GATE_INIT;
/* A ticket lock: the ticket that holds it, and the next free one. */
static unsigned int serving;
static unsigned int tickets;

/* Tickets that agree in their last five bits share a channel; their threads check again. */
static long channel_of(unsigned int ticket)
{
	return 1L << (ticket & 31);
}

KNOWN static void wait_turn(struct member *member, unsigned int ticket)
{
	uint64_t start = workload__now();
	unsigned int now;

	while ((now = __atomic_load_n(&serving, __ATOMIC_ACQUIRE)) != ticket)
		workload__syscall(SYS_futex, (long)&serving,
				  FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, now, 0, 0,
				  channel_of(ticket));
	member->truth.bracket_ns += workload__now() - start;
	member->truth.count++;
}

static void pass_on(unsigned int ticket)
{
	__atomic_store_n(&serving, ticket + 1, __ATOMIC_RELEASE);
	workload__syscall(SYS_futex, (long)&serving, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG,
			  INT32_MAX, 0, 0, channel_of(ticket + 1));
}

KNOWN static void march(struct member *member, unsigned long depth)
{
	if (depth) {
		march(member, depth - 1);
		return;
	}
	for (unsigned long i = 0; i < member->rounds; i++) {
		unsigned int ticket = member->first;

		if (i)
			ticket = __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED);
		wait_turn(member, ticket);
		pass_on(ticket);
	}
}

static void *start_marching(void *arg)
{
	struct member *member = arg;

	prctl(PR_SET_NAME, member->comm);
	gate__pass(&gate);
	waits__begin(&member->truth, "futex", "wait_turn");
	march(member, member->depth);
	waits__end(&member->truth);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "threads", 64 }, { "rounds", 100 }, { "depth", 0 }, { "linger", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value;
	struct member *members = calloc(nr + 1, sizeof(*members));

	if (!members)
		workload__fail("calloc", ENOMEM);
	for (unsigned long i = 0; i < nr; i++) {
		struct member *member = &members[i];
		int err;

		member->rounds = options[1].value;
		member->depth = options[2].value;
		member->first = tickets++;
		member->truth.comm = member->comm;
		snprintf(member->comm, sizeof(member->comm), "convoy-%u", (unsigned int)(i % 1000));
		err = pthread_create(&member->thread, NULL, start_marching, member);
		if (err)
			workload__fail("pthread_create", err);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(members[i].thread, NULL);
	workload__done(options[3].value);
	for (unsigned long i = 0; i < nr; i++)
		waits__print(&members[i].truth);
	free(members);
	return 0;
}
