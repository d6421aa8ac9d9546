/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/root_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/live_thread.h"

/* O_PATH finds a file without opening it: devices and FIFOs notice nothing. */
int root_open__resolve(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	/* -EAGAIN: something was renamed meanwhile, and the kernel could not be sure. */
	for (int tries = 0; tries < 16; tries++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	return (int)fd;
}

static int open_part(int dir_fd, const char *part)
{
	struct stat st;
	int fd, err;

	if (!strcmp(part, ".."))
		return -EINVAL;
	fd = openat(dir_fd, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else
		err = S_ISLNK(st.st_mode) ? -ELOOP : 0;
	if (err)
		close(fd);
	return err ? err : fd;
}

int root_open__walk(int root_fd, const char *path)
{
	char parts[PATH_MAX], *rest = NULL;
	int fd, next;

	if (snprintf(parts, sizeof(parts), "%s", path) >= (int)sizeof(parts))
		return -ENAMETOOLONG;
	fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (char *part = strtok_r(parts, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		next = open_part(fd, part);
		close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
	return fd;
}

static int find(int root_fd, const char *path)
{
	int fd = root_open__resolve(root_fd, path);

	return fd == -ENOSYS || fd == -EPERM ? root_open__walk(root_fd, path) : fd;
}

/* Turns the O_PATH descriptor into one that reads. */
static int open_regular(int path_fd)
{
	char name[32];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The part of path below the root in which we see the process; NULL: it is not below. */
static const char *strip_root(const char *root_name, const char *path)
{
	char root[PATH_MAX];
	ssize_t len = readlink(root_name, root, sizeof(root));

	if (len <= 1 || len >= (ssize_t)sizeof(root))
		return NULL;
	if (strncmp(path, root, (size_t)len) || path[len] != '/')
		return NULL;
	return path + len;
}

int root_open__file(pid_t pid, const char *path)
{
	char root_name[32] = "/";
	const char *stripped = NULL;
	int root_fd, path_fd = -ENOENT, fd;
	pid_t other;

	if (*path != '/')
		return -ENOENT;
	if (pid) {
		snprintf(root_name, sizeof(root_name), "/proc/%d/root", pid);
		stripped = strip_root(root_name, path);
	}
	root_fd = open(root_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 && errno == ENOENT && pid && (other = live_thread__other(pid)))
		return root_open__file(other, path);
	if (root_fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (stripped)
		path_fd = find(root_fd, stripped);
	if (path_fd == -ENOENT || path_fd == -ENOTDIR)
		path_fd = find(root_fd, path);
	close(root_fd);
	if (path_fd < 0)
		return path_fd == -ENOTDIR ? -ENOENT : path_fd;
	fd = open_regular(path_fd);
	close(path_fd);
	return fd;
}

static bool is_on_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* A mapping and a name give the same inode for one file, but for overlays. */
int root_open__check(int fd, uint64_t ino)
{
	struct stat st;

	if (!ino)
		return 0;
	if (fstat(fd, &st))
		return -errno;
	return st.st_ino == ino || is_on_overlay(fd) ? 0 : -ESTALE;
}

/* Device and inode of our own mapping that begins at an address. 0 or -ESTALE, -errno. */
static int read_own_mapping(const void *start, struct file_id *id)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long long first, ino;
	unsigned int maj, min;
	char line[PATH_MAX + 128];
	int err = -ESTALE;

	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%*x %*s %*x %x:%x %llu", &first, &maj, &min, &ino) != 4 ||
		    first != (uintptr_t)start)
			continue;
		*id = (struct file_id){ .ino = ino, .maj = maj, .min = min };
		err = 0;
	}
	fclose(file);
	return err;
}

/* Nothing is read from the mapping: a file that shrinks meanwhile does no harm. */
static int check_mapped(int fd, const struct file_id *id)
{
	void *start = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct file_id shown;
	int err;

	if (start == MAP_FAILED)
		return -errno;
	err = read_own_mapping(start, &shown);
	munmap(start, 1);
	if (err)
		return err;
	return shown.ino == id->ino && shown.maj == id->maj && shown.min == id->min ? 0 : -ESTALE;
}

int root_open__elsewhere(pid_t pid, const char *path, const struct file_id *id, bool same_view)
{
	int fd, err;

	if (!id->ino)
		return -ESTALE;
	fd = root_open__file(pid, path);
	if (fd < 0)
		return fd;
	err = check_mapped(fd, id);
	if (!err || (err == -ESTALE && same_view && is_on_overlay(fd)))
		return fd;
	close(fd);
	return err;
}

int root_open__inode(pid_t pid, const char *path, uint64_t ino)
{
	int fd = root_open__file(pid, path), err;

	if (fd < 0)
		return fd;
	err = root_open__check(fd, ino);
	if (!err)
		return fd;
	close(fd);
	return err;
}
