/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/mount_ns.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/live_thread.h"
#include "host/proc_stat.h"
#include "machine/machine.h"
#include "symbol/dso_table.h"

/* Most ancestors of a process whose view is compared with its own. */
#define MAX_ANCESTORS 32

/* Reads a link of /proc, which asks no file system but that one. */
static bool read_link(const char *pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	len = readlink(path, text, size - 1);
	if (len < 0)
		return false;
	text[len] = '\0';
	return true;
}

/* FNV-1a, with the NUL. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	do {
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	} while (*text++);
	return hash;
}

static int view_of_thread(pid_t pid, uint64_t *view)
{
	static const char *const names[] = { "ns/mnt", "root" };
	char number[16], theirs[PATH_MAX], ours[PATH_MAX];
	uint64_t hash = 0xcbf29ce484222325ULL;
	bool foreign = false;

	snprintf(number, sizeof(number), "%d", pid);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!read_link(number, names[i], theirs, sizeof(theirs)) ||
		    !read_link("self", names[i], ours, sizeof(ours)))
			return -ESRCH;
		foreign |= strcmp(theirs, ours) != 0;
		hash = add_text(hash, theirs);
	}
	*view = foreign ? hash | 2 : MACHINE_VIEW_OURS;
	return 0;
}

int mount_ns__of(pid_t pid, uint64_t *view)
{
	int err = view_of_thread(pid, view);
	pid_t other = err ? live_thread__other(pid) : 0;

	return other ? view_of_thread(other, view) : err;
}

/* Follows the parents of a process for as long as they have its view; returns the last one. */
static pid_t eldest_of(pid_t pid, uint64_t view)
{
	uint64_t its;
	pid_t parent;

	for (int i = 0; i < MAX_ANCESTORS; i++) {
		if (proc_stat__parent(pid, &parent) || !parent || mount_ns__of(parent, &its) ||
		    its != view)
			break;
		pid = parent;
	}
	return pid;
}

int mount_ns__look(struct dso_table *dso_table, pid_t pid, uint64_t alive)
{
	uint64_t view, born;
	pid_t eldest = 0;

	/* The birth last: if the PID was used again meanwhile, it shows. */
	if (mount_ns__of(pid, &view) || proc_stat__born(pid, &born) || born > alive)
		return 0;
	if (dso_table__wants_eldest(dso_table, pid, view, alive))
		eldest = eldest_of(pid, view);
	return dso_table__set_view(dso_table, pid, view, alive, eldest);
}
