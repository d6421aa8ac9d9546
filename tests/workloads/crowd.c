/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --processes processes that sleep until the end, --ms milliseconds after the start: an idle
 * machine's processes.
 */
#include "workload.h"

#include <signal.h>
#include <sys/wait.h>

/* The pipe ends when the parent does, however that happens: no child outlives it. */
KNOWN static void idle(int fd)
{
	char c;

	while (workload__syscall(SYS_read, fd, (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "processes", 300 }, { "ms", 0 }, { "linger", 0 }, { 0 }
	};
	bool wait = workload__parse(argc, argv, options);
	int ends[2];

	if (pipe(ends) < 0)
		workload__fail("pipe", errno);
	for (unsigned long i = 0; i < options[0].value; i++) {
		pid_t child = fork();

		if (child < 0)
			workload__fail("fork", errno);
		if (!child) {
			close(ends[1]);
			prctl(PR_SET_NAME, "crowd");
			idle(ends[0]);
			_exit(0);
		}
	}
	workload__ready(wait);
	workload__nanosleep(options[1].value * WORKLOAD_NSEC_PER_MSEC);
	workload__done(options[2].value);
	close(ends[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}
