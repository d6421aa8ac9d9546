/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --count processes, --parallel of them at a time, each of which sleeps once for --us
 * microseconds in wait_once and exits.
 */
#include "workload.h"

#include <sys/mman.h>
#include <sys/wait.h>

KNOWN static void wait_once(struct waits *truth, uint64_t ns)
{
	waits__sleep(truth, ns);
}

KNOWN static void sleep_and_exit(struct waits *truth, uint64_t ns)
{
	uint64_t start;

	prctl(PR_SET_NAME, "child");
	waits__begin(truth, "nanosleep", "wait_once");
	start = workload__clock(CLOCK_MONOTONIC);
	wait_once(truth, ns);
	truth->bracket_ns = workload__clock(CLOCK_MONOTONIC) - start;
	waits__end(truth);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "count", 100 }, { "parallel", 4 }, { "us", 1000 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[0].value, parallel = options[1].value;
	struct waits *truths = mmap(NULL, (nr + 1) * sizeof(*truths), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (truths == MAP_FAILED || !parallel)
		workload__fail("--parallel or memory", EINVAL);
	workload__ready(wait);
	for (unsigned long i = 0; i < nr; i++) {
		pid_t child;

		if (i >= parallel)
			waitpid(-1, NULL, 0);
		child = fork();
		if (child < 0)
			workload__fail("fork", errno);
		if (!child)
			sleep_and_exit(&truths[i], options[2].value * 1000);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (unsigned long i = 0; i < nr; i++) {
		truths[i].comm = "child";
		waits__print(&truths[i]);
	}
	return 0;
}
