/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --count threads, --parallel of them at a time, each of which is given a name that no other has,
 * sleeps for half of --us microseconds, is renamed, sleeps for the rest and ends.
 */
#include "workload.h"

struct life {
	pthread_t thread;
	unsigned long number;
	uint64_t ns;
};

KNOWN static void live_as(char letter, const struct life *life)
{
	char name[16];

	snprintf(name, sizeof(name), "%c%d-%lu", letter, getpid(), life->number);
	prctl(PR_SET_NAME, name);
	workload__nanosleep(life->ns / 2);
}

KNOWN static void *live(void *arg)
{
	live_as('a', arg);
	live_as('b', arg);
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "count", 1000 }, { "parallel", 50 }, { "us", 20000 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value, parallel = options[1].value;
	struct life *lives = calloc(nr + 1, sizeof(*lives));

	if (!lives || !parallel)
		workload__fail("--parallel or memory", EINVAL);
	workload__ready(wait);
	for (unsigned long i = 0; i < nr + parallel; i++) {
		if (i >= parallel && i - parallel < nr)
			pthread_join(lives[i - parallel].thread, NULL);
		if (i >= nr)
			continue;
		lives[i].number = i;
		lives[i].ns = options[2].value * 1000;
		if (pthread_create(&lives[i].thread, NULL, live, &lives[i]))
			workload__fail("pthread_create", EAGAIN);
	}
	free(lives);
	return 0;
}
