/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

int cgroup_mounts__read(struct cgroup_mounts *mounts, const char *table)
{
	struct mntent entry;
	char line[4 * PATH_MAX];
	enum cgroup_hierarchy hierarchy;
	int err = 0;
	FILE *file;

	*mounts = (struct cgroup_mounts){ 0 };
	file = setmntent(table ? table : "/proc/self/mounts", "re");
	if (!file)
		return -errno;
	while (!err && getmntent_r(file, &entry, line, sizeof(line))) {
		if (!strcmp(entry.mnt_type, "cgroup2"))
			hierarchy = CGROUP_V2;
		else if (!strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, "perf_event"))
			hierarchy = CGROUP_PERF_EVENT;
		else
			continue;
		if (mounts->path[hierarchy])
			continue;
		mounts->path[hierarchy] = strdup(entry.mnt_dir);
		if (!mounts->path[hierarchy])
			err = -ENOMEM;
	}
	endmntent(file);
	if (err)
		cgroup_mounts__free(mounts);
	return err;
}

void cgroup_mounts__free(struct cgroup_mounts *mounts)
{
	for (int i = 0; i < CGROUP_HIERARCHIES; i++)
		free(mounts->path[i]);
	*mounts = (struct cgroup_mounts){ 0 };
}

enum cgroup_hierarchy cgroup_mounts__of_samples(const struct cgroup_mounts *mounts)
{
	return mounts->path[CGROUP_PERF_EVENT] ? CGROUP_PERF_EVENT : CGROUP_V2;
}

struct walk {
	cgroup_fn fn;
	void *ctx;
	char path[PATH_MAX];
};

static int walk_below(struct walk *walk, int parent, const char *name, size_t len, int depth);

/* Calls walk_below() for each directory in dir, with its name at the end of the path. */
static int walk_entries(struct walk *walk, DIR *dir, size_t len, int depth)
{
	const struct dirent *entry;
	size_t name;
	int err = 0;

	while (!err && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		name = strlen(entry->d_name);
		if (len + 1 + name >= sizeof(walk->path))
			continue;
		walk->path[len] = '/';
		memcpy(walk->path + len + 1, entry->d_name, name + 1);
		err = walk_below(walk, dirfd(dir), entry->d_name, len + 1 + name, depth + 1);
	}
	return err;
}

static int walk_below(struct walk *walk, int parent, const char *name, size_t len, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat stat_buf;
	DIR *dir;

	/* It was removed or is not readable: an error only at the start of a walk. */
	if (fd < 0)
		return depth ? 0 : -errno;
	if (fstat(fd, &stat_buf)) {
		err = -errno;
		close(fd);
		return err;
	}
	err = walk->fn(walk->ctx, stat_buf.st_ino, len ? walk->path : "/");
	dir = err || depth >= DEPTH_MAX ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return err < 0 ? err : 0;
	}
	err = walk_entries(walk, dir, len, depth);
	closedir(dir);
	return err;
}

int cgroup__walk(const char *root, cgroup_fn fn, void *ctx)
{
	struct walk walk = { .fn = fn, .ctx = ctx };

	return walk_below(&walk, AT_FDCWD, root, 0, 0);
}
