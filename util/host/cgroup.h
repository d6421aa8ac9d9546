/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_CGROUP_H
#define DENET_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Control groups, as directories: of v2, and of the v1 hierarchy to which the perf_event
 * controller belongs, the only two in which programs of the kernel look for tasks.
 */
enum cgroup_hierarchy {
	CGROUP_V2 = 0,
	CGROUP_PERF_EVENT = 1,
	CGROUP_HIERARCHIES = 2,
};

/* Where the hierarchies are mounted; NULL: nowhere. Free with cgroup_mounts__free(). */
struct cgroup_mounts {
	char *path[CGROUP_HIERARCHIES];
};

/* Reads a table of mounts (NULL: ours, /proc/self/mounts). 0 or a negative errno. */
int cgroup_mounts__read(struct cgroup_mounts *mounts, const char *table);
void cgroup_mounts__free(struct cgroup_mounts *mounts);

/*
 * The hierarchy of samples and CGROUP records, of which a file has one: that of perf_event if it is
 * mounted as v1, as in perf, else v2.
 */
enum cgroup_hierarchy cgroup_mounts__of_samples(const struct cgroup_mounts *mounts);

/* A cgroup; its id is the inode of its directory, never reused while the kernel runs. */
struct cgroup_ref {
	uint64_t id;
	enum cgroup_hierarchy hierarchy;
};

/* Free with cgroup_list__free(). */
struct cgroup_list {
	struct cgroup_ref *refs;
	size_t nr;
};

void cgroup_list__free(struct cgroup_list *list);

/*
 * Adds the cgroups of a list of names, apart by commas. Each is a path: from the root of the
 * file system, if it leads to a cgroup, or else from the root of the hierarchies; found in
 * both, it means both. A name without a slash that is no path is looked for among the
 * containers, see cgroup_name__matches(). 0, or (logged, with what helps) -ENOENT where
 * there is none, -EINVAL for something else than a cgroup of the two hierarchies or an empty
 * name, -ENOTUNIQ where a name fits several containers, -E2BIG, -ENOMEM.
 */
int cgroup_list__resolve(struct cgroup_list *list, const struct cgroup_mounts *mounts,
			 const char *text);

/* Directories of cgroups, for perf_event_open(2). Close with cgroup_dirs__close(). */
struct cgroup_dirs {
	int *fds;
	size_t nr;
};

/*
 * Opens these cgroups, but for those that lie below another one of them. Perf events know one
 * hierarchy only, cgroup_mounts__of_samples(): a cgroup that is in the other one as well, under the
 * same path, is left to the one that they know. 0; -ENOENT: one of them has been removed; -EXDEV:
 * one is only in the hierarchy that perf events do not know; or another negative errno.
 */
int cgroup_dirs__open(struct cgroup_dirs *dirs, const struct cgroup_ref *refs, size_t nr,
		      const struct cgroup_mounts *mounts);
void cgroup_dirs__close(struct cgroup_dirs *dirs);

/*
 * Number of these cgroups that have been removed, even if others have their names now. 0 or a
 * negative errno.
 */
int cgroup__count_gone(const struct cgroup_ref *refs, size_t nr, const struct cgroup_mounts *mounts,
		       size_t *gone);

/*
 * Receives a cgroup and its path from the root of the hierarchy ("/" for the root), valid in
 * the call. 0 goes on, 1 goes on without what is below it, a negative errno ends the walk.
 */
typedef int (*cgroup_fn)(void *ctx, uint64_t id, const char *path);

/*
 * Walks over the cgroup root and all cgroups below it, without those that vanish meanwhile. 0 or a
 * negative errno (fn's, or our own).
 */
int cgroup__walk(const char *root, cgroup_fn fn, void *ctx);

/*
 * Whether the last part of a cgroup's path is that of the container called name: as docker,
 * podman, containerd, CRI-O, Kubernetes, LXC, systemd-nspawn, libvirt or systemd name it.
 * An id is at least 12 digits of the container's own.
 */
bool cgroup_name__matches(const char *leaf, const char *name);

/*
 * The innermost container that a path of a cgroup leads through: the first 12 digits of its id, as
 * `docker ps` and `crictl ps` show them, or the name of one of LXC, systemd-nspawn or libvirt; "":
 * it leads through none.
 */
void cgroup_name__container(const char *path, char *buf, size_t size);

#endif /* DENET_HOST_CGROUP_H */
