/* SPDX-License-Identifier: GPL-2.0-only */
/* names COUNT: so many processes, one after the other, each with a name of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void live(int number)
{
	char name[16];

	snprintf(name, sizeof(name), "name-%d", number);
	prctl(PR_SET_NAME, name);
	_exit(0);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid)
			live(i);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}
