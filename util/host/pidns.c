/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/pidns.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"

/* The first namespace's; the kernel promises it (PROC_PID_INIT_INO). */
#define PIDNS_FIRST 0xEFFFFFFCU

int pidns__inode(uint32_t *inode)
{
	struct stat stat_buf;

	if (stat("/proc/self/ns/pid", &stat_buf))
		return -errno;
	*inode = stat_buf.st_ino == PIDNS_FIRST ? 0 : (uint32_t)stat_buf.st_ino;
	return 0;
}

int pidns__check_proc(void)
{
	uint64_t pid = 0;
	char name[32];
	ssize_t len;

	len = readlink("/proc/self", name, sizeof(name) - 1);
	name[len > 0 ? len : 0] = '\0';
	if (len > 0 && !units__parse_number(name, INT32_MAX, &pid) && pid == (uint64_t)getpid())
		return 0;
	if (len > 0 || !access("/proc/version", F_OK))
		pr_err("/proc shows the processes of another PID namespace: mount the own one "
		       "(`mount -t proc proc /proc`, or `unshare --mount-proc`)");
	else
		pr_err("/proc is not mounted: `mount -t proc proc /proc`");
	return -EXDEV;
}
