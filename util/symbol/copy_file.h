/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_COPY_FILE_H
#define DENET_COPY_FILE_H

#include <stdint.h>

/*
 * Copies the file that is open for reading at from, holes as holes, to a new file of that name
 * in a directory: all of it or, whenever the process is killed, nothing. File systems without
 * files that have no name, such as NFS, keep .NAME.part then, which the next copy takes over and
 * copy_file__forget() removes. Who may read the copy may read the original: the bits for reading
 * are the same, and a file that this process can read by its capabilities only is not copied.
 * *room: the bytes that may be written, is reduced by those that were; a part of the file system
 * stays free as well. 0, also if there is a file of that name or another process writes it;
 * -EACCES, -EFBIG beyond room, -ENOSPC, or another negative errno.
 */
int copy_file__into(int dir_fd, const char *name, int from, uint64_t *room);

/* Removes what a copy to that name left that was killed, unless another process writes it. */
void copy_file__forget(int dir_fd, const char *name);

#endif /* DENET_COPY_FILE_H */
