/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --count threads, --parallel of them at a time, each of which sleeps once for --us
 * microseconds in wait_once and exits. --hold: all of them, which are parallel then, rest
 * before they exit.
 */
#include "workload.h"

struct sleeper {
	struct waits truth;
	pthread_t thread;
	uint64_t ns;
};

static struct rest rest;
static int resting;

KNOWN static void wait_once(struct sleeper *sleeper)
{
	waits__sleep(&sleeper->truth, sleeper->ns);
}

KNOWN static void *start_sleeping(void *arg)
{
	struct sleeper *sleeper = arg;
	uint64_t start;

	prctl(PR_SET_NAME, "brief");
	waits__begin(&sleeper->truth, "nanosleep", "wait_once");
	start = workload__clock(CLOCK_MONOTONIC);
	wait_once(sleeper);
	sleeper->truth.bracket_ns = workload__clock(CLOCK_MONOTONIC) - start;
	waits__end(&sleeper->truth);
	rest__enter(&rest);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "count", 100 }, { "parallel", 20 }, { "us", 1000 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value, parallel = options[1].value;
	struct sleeper *sleepers = calloc(nr + 1, sizeof(*sleepers));

	if (!sleepers || !parallel)
		workload__fail("--parallel or memory", EINVAL);
	if (workload__holds && parallel < nr)
		workload__fail("--hold with too few in --parallel", EINVAL);
	rest__init(&rest, &resting);
	workload__ready(wait);
	for (unsigned long i = 0; i < nr + parallel; i++) {
		if (i == nr)
			rest__end(&rest, (int)nr);
		if (i >= parallel)
			pthread_join(sleepers[i - parallel].thread, NULL);
		if (i >= nr)
			continue;
		sleepers[i].ns = options[2].value * 1000;
		if (pthread_create(&sleepers[i].thread, NULL, start_sleeping, &sleepers[i]))
			workload__fail("pthread_create", EAGAIN);
	}
	for (unsigned long i = 0; i < nr; i++) {
		sleepers[i].truth.comm = "brief";
		waits__print(&sleepers[i].truth);
	}
	free(sleepers);
	return 0;
}
