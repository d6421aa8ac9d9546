/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/targets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/idmap.h"
#include "base/log.h"
#include "base/units.h"
#include "host/cgroup.h"

/* A target's id, and the option that gave it. */
struct named {
	char option; /* 'p' or 't' */
	pid_t id;
};

/* The value of a field such as "Tgid" in /proc/TID/status. False: no such thread or field. */
static bool read_status(pid_t tid, const char *field, char *value, size_t size)
{
	size_t len = strlen(field);
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, field, len) && line[len] == ':';
		if (found)
			snprintf(value, size, "%.*s", (int)strcspn(line + len + 2, "\n"),
				 line + len + 2);
	}
	fclose(file);
	return found;
}

/* The process that a thread belongs to, from /proc. 0: no such thread. */
static pid_t process_of(pid_t tid)
{
	uint64_t tgid;
	char value[64];

	if (!read_status(tid, "Tgid", value, sizeof(value)) ||
	    units__parse_number(value, INT32_MAX, &tgid))
		return 0;
	return (pid_t)tgid;
}

static bool has_ended(pid_t tid)
{
	char value[64];

	return !read_status(tid, "State", value, sizeof(value)) || *value == 'Z' || *value == 'X';
}

int targets__check(const struct id_list *pids, const struct id_list *tids)
{
	pid_t leader;

	for (size_t i = 0; i < pids->nr; i++) {
		leader = process_of(pids->ids[i]);
		if (!leader) {
			pr_err("-p %d: there is no such process", pids->ids[i]);
			return -ESRCH;
		}
		if (leader != pids->ids[i]) {
			pr_err("-p %d: that is a thread of process %d; use -p %d, or -t %d for the "
			       "thread",
			       pids->ids[i], leader, leader, pids->ids[i]);
			return -EINVAL;
		}
	}
	for (size_t i = 0; i < tids->nr; i++) {
		if (!process_of(tids->ids[i])) {
			pr_err("-t %d: there is no such thread", tids->ids[i]);
			return -ESRCH;
		}
	}
	return 0;
}

static bool is_meant(const struct named *named, const struct capture_task *task)
{
	return named->id == (named->option == 'p' ? task->pid : task->tid);
}

/* Explains why a named target is not observed. True: it has ended, which is no error. */
static bool explain(const struct named *named, const struct capture_task *task, const char *noun)
{
	const char *what = named->option == 'p' ? "process" : "thread";

	if (has_ended(named->id)) {
		pr_warn("-%c %d: this %s ended before the %s began", named->option, named->id, what,
			noun);
		return true;
	}
	if (process_of(named->id) == getpid())
		pr_warn("-%c %d: that is this program, which does not observe itself",
			named->option, named->id);
	else if (task && task->kthread)
		pr_warn("-%c %d: that is a kernel thread, and these are observed with "
			"--kernel-threads only",
			named->option, named->id);
	else
		pr_warn("-%c %d: the kernel does not show this %s to BPF programs, so nothing of "
			"it can be observed (some virtual machines hide process 1); what it "
			"starts can be named by -p",
			named->option, named->id, what);
	return false;
}

/* 1: it is observed, 0: it has ended, or -ESRCH: it is not observed, which has been logged. */
static int look_for(const struct named *named, const struct capture_task *tasks, size_t nr,
		    const char *noun)
{
	const struct capture_task *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!is_meant(named, &tasks[i]))
			continue;
		if (tasks[i].target)
			return 1;
		found = &tasks[i];
	}
	return explain(named, found, noun) ? 0 : -ESRCH;
}

/* Ancestors to check, as in the BPF programs. */
#define MAX_ANCESTORS 32

/* Notes the parent of each process; without memory, entries are missing. */
static void note_parents(struct idmap *parents, const struct capture_task *tasks, size_t nr)
{
	uint64_t *parent;

	for (size_t i = 0; i < nr; i++) {
		if (tasks[i].pid != tasks[i].tid)
			continue;
		parent = idmap__get(parents, (uint64_t)tasks[i].pid);
		if (parent)
			*parent = (uint64_t)tasks[i].ppid;
	}
}

static bool is_named(const struct capture_targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->nr_pids; i++) {
		if (targets->pids[i] == pid)
			return true;
	}
	return false;
}

static bool descends_from_target(const struct capture_targets *targets,
				 const struct idmap *parents, pid_t pid)
{
	const uint64_t *parent;

	for (int i = 0; i < MAX_ANCESTORS && pid != getpid(); i++) {
		parent = idmap__find(parents, (uint64_t)pid);
		if (!parent)
			return false;
		pid = (pid_t)*parent;
		if (is_named(targets, pid))
			return true;
	}
	return false;
}

/* Living processes that descend from targets but are none. Our own children do not count. */
static size_t count_children(const struct capture_targets *targets,
			     const struct capture_task *tasks, size_t nr)
{
	struct idmap parents = { 0 };
	size_t children = 0;

	if (!targets->nr_pids)
		return 0;
	note_parents(&parents, tasks, nr);
	for (size_t i = 0; i < nr; i++)
		children += tasks[i].pid == tasks[i].tid && !tasks[i].target &&
			    descends_from_target(targets, &parents, tasks[i].pid);
	idmap__free(&parents);
	return children;
}

/* A server may leave its work to children. */
static void warn_of_children(const struct capture_targets *targets,
			     const struct capture_task *tasks, size_t nr)
{
	size_t children = count_children(targets, tasks, nr);

	if (children)
		pr_warn("%zu living %s not included (--children)", children,
			children == 1 ? "child" : "children");
}

int targets__look(const struct capture_targets *targets, const struct capture_task *tasks,
		  size_t nr, const char *noun)
{
	size_t nr_all = targets->nr_pids + targets->nr_tids, missing = 0;
	struct named named;
	bool any = false;
	int ret;

	warn_of_children(targets, tasks, nr);
	for (size_t i = 0; i < nr_all; i++) {
		bool by_pid = i < targets->nr_pids;

		named.option = by_pid ? 'p' : 't';
		named.id = by_pid ? targets->pids[i] : targets->tids[i - targets->nr_pids];
		ret = look_for(&named, tasks, nr, noun);
		any = any || ret > 0;
		missing += ret < 0;
	}
	if (any || !missing)
		return 0;
	pr_err("none of the targets can be observed");
	return -ESRCH;
}

/* A service that is restarted gets a new cgroup of the old name. */
void targets__warn_of_gone_groups(const struct capture_targets *targets)
{
	struct cgroup_mounts mounts = { 0 };
	size_t gone = 0;

	if (!targets->nr_groups || cgroup_mounts__read(&mounts, NULL))
		return;
	if (!cgroup__count_gone(targets->groups, targets->nr_groups, &mounts, &gone) && gone)
		pr_warn("-G: %zu of %zu cgroups were removed meanwhile; a new one of the same name "
			"is not observed, so name the cgroup above it",
			gone, targets->nr_groups);
	cgroup_mounts__free(&mounts);
}
