/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/copy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/minmax.h"

/* This part of a file system is left free. */
#define FREE_PART 20

/* Copies bytes from at on, up to end or as many as there are. Their number or a negative errno. */
static int64_t copy_range(int from, int to, int64_t at, int64_t end, uint64_t room)
{
	const int64_t first = at;
	char data[65536];
	ssize_t len;

	while (at < end) {
		size_t most = (size_t)min_u64((uint64_t)(end - at), sizeof(data));

		len = pread(from, data, most, at);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		if (!len)
			break;
		if ((uint64_t)(at - first + len) > room)
			return -EFBIG;
		if (pwrite(to, data, (size_t)len, at) != len)
			return errno ? -errno : -ENOSPC;
		at += len;
	}
	return at - first;
}

/* Files of /proc tell no size. */
static int copy_bytes(int from, int to, int64_t size, uint64_t *room)
{
	int64_t at = 0, hole, nr;

	if (!size) {
		nr = copy_range(from, to, 0, INT64_MAX, *room);
		*room -= nr > 0 ? (uint64_t)nr : 0;
		return nr < 0 ? (int)nr : 0;
	}
	while (at < size && ((at = lseek(from, at, SEEK_DATA)) >= 0 || errno != ENXIO)) {
		hole = at < 0 ? size : lseek(from, at, SEEK_HOLE);
		at = at < 0 ? 0 : at;
		nr = copy_range(from, to, at, hole > at && hole < size ? hole : size, *room);
		if (nr < 0)
			return (int)nr;
		*room -= (uint64_t)nr;
		at = hole > at ? hole : size;
	}
	return ftruncate(to, size) ? -errno : 0;
}

/* access(2) asks for the real user, without capabilities unless that is root. */
static bool may_be_read(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return !access(name, R_OK);
}

static int check_room(int dir_fd, const struct stat *st, uint64_t room)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512, block;
	struct statvfs fs;

	if (bytes > room)
		return -EFBIG;
	if (fstatvfs(dir_fd, &fs))
		return -errno;
	block = fs.f_frsize;
	return bytes + fs.f_blocks * block / FREE_PART > fs.f_bavail * block ? -ENOSPC : 0;
}

static void name_part(const char *name, char part[64])
{
	snprintf(part, 64, ".%.32s.part", name);
}

/* Whether the file that is open still has that name. */
static bool has_name(int dir_fd, const char *name, const struct stat *own)
{
	struct stat st;

	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == own->st_dev &&
	       st.st_ino == own->st_ino;
}

/*
 * Locks the part of a copy, which must be our own file. -EBUSY: another process writes it, or has
 * just finished it. Without locks, as on some network file systems, it is used unlocked.
 */
static int lock_part(int dir_fd, const char *part, int fd)
{
	struct stat own;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return -EBUSY;
	if (fstat(fd, &own))
		return -errno;
	if (!has_name(dir_fd, part, &own))
		return -EBUSY;
	return S_ISREG(own.st_mode) && own.st_nlink == 1 && own.st_uid == geteuid() ? 0 : -EPERM;
}

/* Opens the part of a copy, emptied: a new one, or that of a process that was killed. */
static int open_part(int dir_fd, const char *part)
{
	const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dir_fd, part, flags, 0600), err;

	if (fd < 0)
		return -errno;
	err = lock_part(dir_fd, part, fd);
	if (!err && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

/* Where there are no files without a name. */
static int copy_by_rename(int dir_fd, const char *name, int from, const struct stat *st,
			  uint64_t *room)
{
	char part[64];
	int fd, err;

	name_part(name, part);
	fd = open_part(dir_fd, part);
	if (fd < 0)
		return fd == -EBUSY ? 0 : fd;
	err = copy_bytes(from, fd, st->st_size, room);
	if (!err && (fsync(fd) || renameat(dir_fd, part, dir_fd, name)))
		err = -errno;
	if (err)
		unlinkat(dir_fd, part, 0);
	/* Last: until here a new copy must be able to write it again. */
	else if (fchmod(fd, (st->st_mode & 0444) | 0400))
		err = -errno;
	close(fd);
	return err;
}

static int give_name(int fd, int dir_fd, const char *name)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, own, dir_fd, name, AT_SYMLINK_FOLLOW) && errno != EEXIST)
		return -errno;
	return 0;
}

int copy_file__into(int dir_fd, const char *name, int from, uint64_t *room)
{
	struct stat st;
	int fd, err;

	if (fstat(from, &st))
		return -errno;
	if (!may_be_read(from))
		return -EACCES;
	err = check_room(dir_fd, &st, *room);
	if (err)
		return err;
	fd = openat(dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		return copy_by_rename(dir_fd, name, from, &st, room);
	if (fd < 0)
		return -errno;
	err = copy_bytes(from, fd, st.st_size, room);
	if (!err && fchmod(fd, (st.st_mode & 0444) | 0400))
		err = -errno;
	if (!err)
		err = give_name(fd, dir_fd, name);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

void copy_file__forget(int dir_fd, const char *name)
{
	char part[64];
	int fd;

	name_part(name, part);
	fd = openat(dir_fd, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!lock_part(dir_fd, part, fd))
		unlinkat(dir_fd, part, 0);
	close(fd);
}
