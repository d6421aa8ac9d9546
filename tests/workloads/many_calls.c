/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes one system call over and over, for the benchmark of denet-stat: getppid(2), or with
 * --read 1 read(2) of a byte of /dev/zero, whose file a tracer may look at.
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	struct workload_option options[] = {
		{ "rounds", 1000000 }, { "linger", 0 }, { "read", 0 }, { 0 },
	};
	bool wait = workload__parse(argc, argv, options);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char byte;

	workload__ready(wait);
	for (unsigned long i = 0; i < options[0].value; i++) {
		if (!options[2].value)
			syscall(SYS_getppid);
		else if (read(fd, &byte, 1) != 1)
			return 1;
	}
	workload__done(options[1].value);
	return 0;
}
