/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/copy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
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

	if (!size)
		return (nr = copy_range(from, to, 0, INT64_MAX, *room)) < 0 ? (int)nr : 0;
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

/* Where there are no files without a name: one that a kill leaves behind has a name of its own. */
static int copy_by_rename(int dir_fd, const char *name, int from, const struct stat *st,
			  uint64_t *room)
{
	char temporary[64];
	int fd, err;

	snprintf(temporary, sizeof(temporary), ".%.32s.%d", name, getpid());
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = copy_bytes(from, fd, st->st_size, room);
	if (!err && fchmod(fd, (st->st_mode & 0444) | 0400))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir_fd, temporary, dir_fd, name))
		err = -errno;
	if (err)
		unlinkat(dir_fd, temporary, 0);
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
