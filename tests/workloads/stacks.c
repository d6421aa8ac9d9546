/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --threads threads, each of which sleeps --rounds times for --us microseconds in each of
 * 2^--bits user stacks: the bits of the stack's number choose turn_left or turn_right at
 * each depth, below that wait_bottom. --split 1: the threads share the stacks, each sleeps in
 * its own part of them. --above BYTES: so much of the stack is in use besides.
 */
#include "workload.h"

#include <alloca.h>

struct walker {
	struct waits truth;
	char comm[16];
	pthread_t thread;
	unsigned long bits;
	unsigned long rounds;
	unsigned long first; /* of its stacks, and the distance to the next one */
	unsigned long step;
	unsigned long above;
	uint64_t ns;
};

static struct gate gate = GATE_INIT;

static void turn(struct walker *walker, unsigned long path, unsigned long depth);

KNOWN static void wait_bottom(struct walker *walker)
{
	uint64_t start = workload__now();

	workload__nanosleep(walker->ns);
	walker->truth.bracket_ns += workload__now() - start;
	walker->truth.requested_ns += walker->ns;
	walker->truth.count++;
}

KNOWN static void turn_left(struct walker *walker, unsigned long path, unsigned long depth)
{
	turn(walker, path >> 1, depth - 1);
}

KNOWN static void turn_right(struct walker *walker, unsigned long path, unsigned long depth)
{
	turn(walker, path >> 1, depth - 1);
}

KNOWN static void turn(struct walker *walker, unsigned long path, unsigned long depth)
{
	if (!depth)
		wait_bottom(walker);
	else if (path & 1)
		turn_right(walker, path, depth);
	else
		turn_left(walker, path, depth);
}

KNOWN static void *start_walking(void *arg)
{
	struct walker *walker = arg;
	char *above = alloca(walker->above + 1);

	memset(above, 0, walker->above + 1);
	__asm__ volatile("" : : "r"(above) : "memory");
	prctl(PR_SET_NAME, walker->comm);
	/* Without this each sleep is 50 us longer than asked for. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	gate__pass(&gate);
	waits__begin(&walker->truth, "nanosleep", "wait_bottom");
	for (unsigned long round = 0; round < walker->rounds; round++)
		for (unsigned long path = walker->first; path < 1UL << walker->bits;
		     path += walker->step)
			turn(walker, path, walker->bits);
	waits__end(&walker->truth);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "threads", 2 }, { "bits", 8 }, { "rounds", 1 }, { "us", 10 },
		{ "split", 0 },	  { "linger", 0 }, { "above", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value;
	struct walker *walkers = calloc(nr + 1, sizeof(*walkers));

	if (!walkers)
		workload__fail("calloc", ENOMEM);
	for (unsigned long i = 0; i < nr; i++) {
		struct walker *walker = &walkers[i];
		int err;

		walker->bits = options[1].value < 24 ? options[1].value : 24;
		walker->rounds = options[2].value;
		walker->first = options[4].value ? i : 0;
		walker->step = options[4].value ? nr : 1;
		walker->ns = options[3].value * 1000;
		walker->above = options[6].value < 1 << 20 ? options[6].value : 1 << 20;
		walker->truth.comm = walker->comm;
		snprintf(walker->comm, sizeof(walker->comm), "walker-%u",
			 (unsigned int)(i % 1000));
		err = pthread_create(&walker->thread, NULL, start_walking, walker);
		if (err)
			workload__fail("pthread_create", err);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(walkers[i].thread, NULL);
	workload__done(options[5].value);
	for (unsigned long i = 0; i < nr; i++)
		waits__print(&walkers[i].truth);
	free(walkers);
	return 0;
}
