/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks up cgroups by the names that a user types. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "host/cgroup.h"

#define LIST_MAX 256 /* limit of the BPF programs */

void cgroup_list__free(struct cgroup_list *list)
{
	free(list->refs);
	*list = (struct cgroup_list){ 0 };
}

static int add(struct cgroup_list *list, uint64_t id, enum cgroup_hierarchy hierarchy)
{
	struct cgroup_ref *refs;

	for (size_t i = 0; i < list->nr; i++) {
		if (list->refs[i].id == id && list->refs[i].hierarchy == hierarchy)
			return 0;
	}
	if (list->nr == LIST_MAX) {
		pr_err("-G: more than %d cgroups; name one that is above them", LIST_MAX);
		return -E2BIG;
	}
	refs = reallocarray(list->refs, list->nr + 1, sizeof(*refs));
	if (!refs)
		return -ENOMEM;
	refs[list->nr++] = (struct cgroup_ref){ id, hierarchy };
	list->refs = refs;
	return 0;
}

/* Whether path is a cgroup's directory. 0, -ENOENT, or -EINVAL if it is something else. */
static int look_at(const char *path, struct cgroup_ref *ref, dev_t *dev)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct stat stat_buf;
	struct statfs fs;

	if (fd < 0)
		return -ENOENT;
	if (fstatfs(fd, &fs) || fstat(fd, &stat_buf))
		err = -errno;
	else if (fs.f_type == CGROUP2_SUPER_MAGIC)
		ref->hierarchy = CGROUP_V2;
	else if (fs.f_type == CGROUP_SUPER_MAGIC)
		ref->hierarchy = CGROUP_PERF_EVENT;
	else
		err = -EINVAL;
	close(fd);
	if (err)
		return err;
	ref->id = stat_buf.st_ino;
	*dev = stat_buf.st_dev;
	return 0;
}

/* A path from the root of the file system. 0, 1 if it leads to no cgroup, or an error. */
static int resolve_absolute(struct cgroup_list *list, const struct cgroup_mounts *mounts,
			    const char *path)
{
	const char *mount = mounts->path[CGROUP_PERF_EVENT];
	struct cgroup_ref ref = { 0 };
	struct stat stat_buf;
	dev_t dev = 0;

	if (*path != '/' || look_at(path, &ref, &dev))
		return 1;
	if (ref.hierarchy == CGROUP_PERF_EVENT &&
	    (!mount || stat(mount, &stat_buf) || stat_buf.st_dev != dev)) {
		pr_err("-G %s: of the cgroup v1 hierarchies, only that of perf_event can be "
		       "used; %s%s",
		       path, mount ? "it is mounted at " : "it is not mounted here: use v2",
		       mount ? mount : "");
		return -EINVAL;
	}
	return add(list, ref.id, ref.hierarchy);
}

/* A path from the root of the hierarchies. 0, 1 if neither has it, or an error. */
static int resolve_relative(struct cgroup_list *list, const struct cgroup_mounts *mounts,
			    const char *path)
{
	struct cgroup_ref ref = { 0 };
	int found = 1, err = 0;
	dev_t dev;
	char *full;

	for (int i = 0; i < CGROUP_HIERARCHIES && !err; i++) {
		if (!mounts->path[i])
			continue;
		if (asprintf(&full, "%s/%s", mounts->path[i], path) < 0)
			return -ENOMEM;
		/* A path with ".." may have left the hierarchy, so look_at() decides. */
		if (!look_at(full, &ref, &dev) && (int)ref.hierarchy == i) {
			err = add(list, ref.id, ref.hierarchy);
			found = 0;
		}
		free(full);
	}
	return err ? err : found;
}

/* Containers that a name fits; of two hierarchies, the same path is the same container. */
struct search {
	const char *name;
	enum cgroup_hierarchy hierarchy;
	struct cgroup_list found;
	char *first;  /* path of the first */
	char *others; /* paths of all, for the message, once there are two */
};

static int note_other(struct search *search, const char *path)
{
	char *others;

	if (asprintf(&others, "%s, %s", search->others ? search->others : search->first, path) < 0)
		return -ENOMEM;
	free(search->others);
	search->others = others;
	return 1;
}

static int compare(void *ctx, uint64_t id, const char *path)
{
	struct search *search = ctx;
	int err;

	if (!cgroup_name__matches(strrchr(path, '/') + 1, search->name))
		return 0;
	if (search->first && strcmp(search->first, path))
		return note_other(search, path);
	if (!search->first) {
		search->first = strdup(path);
		if (!search->first)
			return -ENOMEM;
	}
	err = add(&search->found, id, search->hierarchy);
	return err ? err : 1;
}

/* A container. 0, 1 if there is none of that name, or an error. */
static int resolve_container(struct cgroup_list *list, const struct cgroup_mounts *mounts,
			     const char *name)
{
	struct search search = { .name = name };
	int err = 0;

	for (int i = 0; i < CGROUP_HIERARCHIES && !err; i++) {
		search.hierarchy = (enum cgroup_hierarchy)i;
		if (mounts->path[i])
			err = cgroup__walk(mounts->path[i], compare, &search);
	}
	if (!err && search.others) {
		pr_err("-G %s: fits several cgroups: %s; give the path of one", name,
		       search.others);
		err = -ENOTUNIQ;
	}
	if (!err && search.first)
		pr_verbose("-G %s: that is %s", name, search.first);
	for (size_t i = 0; i < search.found.nr && !err; i++)
		err = add(list, search.found.refs[i].id, search.found.refs[i].hierarchy);
	if (!err && !search.first)
		err = 1;
	cgroup_list__free(&search.found);
	free(search.first);
	free(search.others);
	return err;
}

static int explain_none(const struct cgroup_mounts *mounts, const char *name)
{
	const char *v2 = mounts->path[CGROUP_V2], *v1 = mounts->path[CGROUP_PERF_EVENT];

	if (!v2 && !v1)
		pr_err("-G %s: no cgroups are mounted here; `mount -t cgroup2 none "
		       "/sys/fs/cgroup` does it",
		       name);
	else
		pr_err("-G %s: there is no such cgroup or container below %s%s%s; `systemd-cgls` "
		       "shows which there are",
		       name, v2 ? v2 : v1, v2 && v1 ? " or " : "", v2 && v1 ? v1 : "");
	return -ENOENT;
}

static int resolve(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *name)
{
	int err;

	if (!*name) {
		pr_err("-G: the name of a cgroup is empty; the root is /");
		return -EINVAL;
	}
	err = resolve_absolute(list, mounts, name);
	if (err == 1)
		err = resolve_relative(list, mounts, name);
	if (err == 1 && !strchr(name, '/'))
		err = resolve_container(list, mounts, name);
	return err == 1 ? explain_none(mounts, name) : err;
}

int cgroup_list__resolve(struct cgroup_list *list, const struct cgroup_mounts *mounts,
			 const char *text)
{
	char *copy = strdup(text), *rest = copy;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	for (char *name; !err && (name = strsep(&rest, ","));)
		err = resolve(list, mounts, name);
	free(copy);
	return err;
}

/* How many of some cgroups are there, one hierarchy after the other. */
struct presence {
	const struct cgroup_ref *refs;
	size_t nr_refs;
	enum cgroup_hierarchy hierarchy;
	size_t nr;
};

static int note_presence(void *ctx, uint64_t id, const char *path)
{
	struct presence *presence = ctx;

	(void)path;
	for (size_t i = 0; i < presence->nr_refs; i++) {
		const struct cgroup_ref *ref = &presence->refs[i];

		presence->nr += ref->id == id && ref->hierarchy == presence->hierarchy;
	}
	return 0;
}

int cgroup__count_gone(const struct cgroup_ref *refs, size_t nr, const struct cgroup_mounts *mounts,
		       size_t *gone)
{
	struct presence presence = { .refs = refs, .nr_refs = nr };
	int err = 0;

	for (int i = 0; i < CGROUP_HIERARCHIES && !err; i++) {
		presence.hierarchy = (enum cgroup_hierarchy)i;
		if (mounts->path[i])
			err = cgroup__walk(mounts->path[i], note_presence, &presence);
	}
	*gone = presence.nr < nr ? nr - presence.nr : 0;
	return err;
}
