/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_ROOT_OPEN_H
#define DENET_ROOT_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapped file as the side band and /proc/PID/maps name it. */
struct file_id {
	uint64_t ino; /* 0: not known */
	uint32_t maj, min;
};

/*
 * Opening the files of another process, which may be hostile: its root may hold links
 * that point out of it, and FIFOs or devices where files should be.
 */

/*
 * Opens the regular file at path for reading, below the root of process pid (0: our own
 * root); links are followed inside of that root only. path is absolute, either as the
 * process sees it or as /proc/PID/maps shows it to us, which differ after chroot(2).
 * Returns a descriptor (close-on-exec) or a negative errno: -ESRCH if the process is gone,
 * -ENOENT, -EINVAL if it is no regular file. May block on a dead file system.
 */
int root_open__file(pid_t pid, const char *path);

/*
 * The same, if the file is the one with inode number ino (0: not known): else -ESTALE, since
 * the name has gone over to another file. On an overlay, whose numbers differ between a
 * mapping and the name, any will do.
 */
int root_open__inode(pid_t pid, const char *path, uint64_t ino);

/* Whether the file at fd is the one with that inode number, as above. 0, -ESTALE, -errno. */
int root_open__check(int fd, uint64_t ino);

/*
 * Opens the file of a process that has ended, below the root of another one, pid (0: our own
 * root). The name alone proves nothing there: the file is mapped, and the mapping must show the
 * device and the inode in id, else -ESTALE. Linux 6.8 to 6.17 name files of overlays differently
 * in /proc/PID/maps and in the side band; same_view: both processes are known to see the same
 * files under the same names, so that a file of an overlay is accepted all the same.
 */
int root_open__elsewhere(pid_t pid, const char *path, const struct file_id *id, bool same_view);

/*
 * Finds path below the directory root_fd. Returns an O_PATH descriptor or a negative errno.
 * The first is openat2(2), the second works where a sandbox refuses that, and refuses
 * all links (-ELOOP) and ".." (-EINVAL), which the paths of mappings never have.
 */
int root_open__resolve(int root_fd, const char *path);
int root_open__walk(int root_fd, const char *path);

#endif /* DENET_ROOT_OPEN_H */
