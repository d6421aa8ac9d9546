/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups, known by their ids, as the directories that perf_event_open(2) takes. */
#include "host/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Paths of the cgroups of one hierarchy, below its root. */
struct paths {
	const struct cgroup_ref *refs;
	size_t nr_refs;
	enum cgroup_hierarchy hierarchy;
	char **path;
	uint64_t *id;
	size_t nr;
};

static int note_path(void *ctx, uint64_t id, const char *path)
{
	struct paths *paths = ctx;

	for (size_t i = 0; i < paths->nr_refs; i++) {
		if (paths->refs[i].id != id || paths->refs[i].hierarchy != paths->hierarchy)
			continue;
		paths->path[paths->nr] = strdup(path);
		if (!paths->path[paths->nr])
			return -ENOMEM;
		paths->id[paths->nr++] = id;
		return 0;
	}
	return 0;
}

static void free_paths(struct paths *paths)
{
	while (paths->nr)
		free(paths->path[--paths->nr]);
	free(paths->path);
	free(paths->id);
}

/* The paths of those that lie in a hierarchy. Free with free_paths(), also after an error. */
static int find_paths(struct paths *paths, const struct cgroup_mounts *mounts)
{
	paths->path = calloc(paths->nr_refs, sizeof(*paths->path));
	paths->id = calloc(paths->nr_refs, sizeof(*paths->id));
	if (!paths->path || !paths->id)
		return -ENOMEM;
	if (!mounts->path[paths->hierarchy])
		return 0;
	return cgroup__walk(mounts->path[paths->hierarchy], note_path, paths);
}

static bool has_path(const struct paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->nr; i++) {
		if (!strcmp(paths->path[i], path))
			return true;
	}
	return false;
}

static bool lies_below(const char *path, const char *above)
{
	size_t len = strcmp(above, "/") ? strlen(above) : 0;

	return !strncmp(path, above, len) && path[len] == '/' && path[len + 1];
}

static bool is_covered(const struct paths *paths, size_t index)
{
	for (size_t i = 0; i < paths->nr; i++) {
		if (lies_below(paths->path[index], paths->path[i]))
			return true;
	}
	return false;
}

/* The directory of a path, if that still has the same cgroup. */
static int open_dir(const char *mount, const char *path, uint64_t id)
{
	struct stat stat_buf;
	char *full;
	int fd, err = 0;

	if (asprintf(&full, "%s%s", mount, path) < 0)
		return -ENOMEM;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	else if (fstat(fd, &stat_buf) || stat_buf.st_ino != id)
		err = -ENOENT;
	free(full);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int open_dirs(struct cgroup_dirs *dirs, const struct paths *paths, const char *mount)
{
	dirs->fds = calloc(paths->nr, sizeof(*dirs->fds));
	if (!dirs->fds)
		return -ENOMEM;
	for (size_t i = 0; i < paths->nr; i++) {
		int fd = is_covered(paths, i) ? 0 : open_dir(mount, paths->path[i], paths->id[i]);

		if (fd < 0)
			return fd;
		if (fd)
			dirs->fds[dirs->nr++] = fd;
	}
	return 0;
}

int cgroup_dirs__open(struct cgroup_dirs *dirs, const struct cgroup_ref *refs, size_t nr,
		      const struct cgroup_mounts *mounts)
{
	struct paths known = { .refs = refs, .nr_refs = nr,
			       .hierarchy = cgroup_mounts__of_samples(mounts) };
	struct paths others = { .refs = refs, .nr_refs = nr,
				.hierarchy = known.hierarchy == CGROUP_V2 ? CGROUP_PERF_EVENT :
									    CGROUP_V2 };
	int err;

	*dirs = (struct cgroup_dirs){ 0 };
	err = find_paths(&known, mounts);
	if (!err)
		err = find_paths(&others, mounts);
	if (!err && known.nr + others.nr < nr)
		err = -ENOENT;
	for (size_t i = 0; i < others.nr && !err; i++)
		err = has_path(&known, others.path[i]) ? 0 : -EXDEV;
	if (!err)
		err = open_dirs(dirs, &known, mounts->path[known.hierarchy]);
	if (err)
		cgroup_dirs__close(dirs);
	free_paths(&known);
	free_paths(&others);
	return err;
}

void cgroup_dirs__close(struct cgroup_dirs *dirs)
{
	while (dirs->nr)
		close(dirs->fds[--dirs->nr]);
	free(dirs->fds);
	*dirs = (struct cgroup_dirs){ 0 };
}
