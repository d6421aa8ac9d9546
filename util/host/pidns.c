/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/pidns.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
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
		pr_err("/proc shows the processes of another PID namespace: mount one of our own "
		       "(`mount -t proc proc /proc`, or `unshare --mount-proc`)");
	else
		pr_err("/proc is not mounted: `mount -t proc proc /proc`");
	return -EXDEV;
}

/* The last id in the line NSpid is that of the innermost namespace. 0: unknown. */
static pid_t innermost_id(pid_t pid, pid_t tid)
{
	char name[64], line[256], *last;
	uint64_t id = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');
		if (!last)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (units__parse_number(last + 1, INT32_MAX, &id))
			id = 0;
		break;
	}
	fclose(file);
	return (pid_t)id;
}

int pidns__each_thread(pid_t pid, pidns_thread_fn fn, void *ctx)
{
	struct dirent *entry;
	char name[32];
	uint64_t tid;
	pid_t inner;
	int ret = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = opendir(name);
	if (!dir)
		return 0;
	while (!ret && (entry = readdir(dir))) {
		if (units__parse_number(entry->d_name, INT32_MAX, &tid))
			continue;
		inner = innermost_id(pid, (pid_t)tid);
		if (inner)
			ret = fn(ctx, (pid_t)tid, inner);
	}
	closedir(dir);
	return ret;
}

struct search {
	pid_t inner;
	pid_t found;
};

static int compare(void *ctx, pid_t tid, pid_t inner)
{
	struct search *search = ctx;

	if (inner != search->inner)
		return 0;
	search->found = tid;
	return 1;
}

pid_t pidns__find_thread(pid_t pid, pid_t inner)
{
	struct search search = { .inner = inner };

	pidns__each_thread(pid, compare, &search);
	return search.found;
}
