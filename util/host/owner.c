/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/owner.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/capabilities.h"

/* The owner of /proc/PID would be root for a process that may not be dumped. */
uint32_t owner__of_process(pid_t pid)
{
	char path[32], text[4096];
	ssize_t len;
	long uid;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return UINT32_MAX;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	uid = capabilities__status_value(text, "Uid");
	return uid < 0 ? UINT32_MAX : (uint32_t)uid;
}
