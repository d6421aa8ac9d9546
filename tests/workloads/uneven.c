/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads whose blocks are of very unequal lengths and numbers, each in one stack: what a
 * sampling recorder has to get right for each of them.
 */
#include "workload.h"

struct napper {
	struct waits truth;
	char comm[16];
	pthread_t thread;
	uint64_t ns;
	unsigned int count;
};

static struct gate gate = GATE_INIT;

KNOWN static void nap_once(struct napper *napper)
{
	uint64_t start = workload__now();

	workload__nanosleep(napper->ns);
	napper->truth.bracket_ns += workload__now() - start;
	napper->truth.requested_ns += napper->ns;
	napper->truth.count++;
}

static void *nap(void *arg)
{
	struct napper *napper = arg;

	prctl(PR_SET_NAME, napper->comm);
	prctl(PR_SET_TIMERSLACK, 1UL);
	gate__pass(&gate);
	waits__begin(&napper->truth, "nanosleep", "nap_once");
	for (unsigned int i = 0; i < napper->count; i++)
		nap_once(napper);
	waits__end(&napper->truth);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { 0 } };
	bool wait = workload__parse(argc, argv, options);
	struct napper nappers[] = {
		{ .comm = "naps-20us", .ns = 20000, .count = 4000 },
		{ .comm = "naps-100us", .ns = 100000, .count = 1500 },
		{ .comm = "naps-1ms", .ns = WORKLOAD_NSEC_PER_MSEC, .count = 200 },
		{ .comm = "naps-5ms", .ns = 5 * WORKLOAD_NSEC_PER_MSEC, .count = 50 },
	};
	size_t nr = sizeof(nappers) / sizeof(nappers[0]);

	for (size_t i = 0; i < nr; i++) {
		int err;

		nappers[i].truth.comm = nappers[i].comm;
		err = pthread_create(&nappers[i].thread, NULL, nap, &nappers[i]);
		if (err)
			workload__fail("pthread_create", err);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (size_t i = 0; i < nr; i++) {
		pthread_join(nappers[i].thread, NULL);
		waits__print(&nappers[i].truth);
	}
	return 0;
}
