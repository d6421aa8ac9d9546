/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_IO_READER_H
#define DENET_STAT_IO_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "stat/proc_text.h"

/*
 * Reads /proc/PID/io in a child. The kernel takes a lock for that file which an exec(2) holds, and
 * an exec waits for memory of a dead file system as long as it likes; all other files that are read
 * here take no such lock.
 */
struct io_reader;

/* Its child is forked at the first use. NULL: no memory. */
struct io_reader *io_reader__new(void);

/*
 * Reads the files of nr processes. status[i] is 0 and io[i] filled, or a negative errno: -EACCES
 * where only the owner may look, -ESRCH or -ENOENT for a process that is gone, -ETIMEDOUT for one
 * that did not answer in patience_ms, -ECANCELED for the others once several such have used up four
 * times that.
 */
void io_reader__read(struct io_reader *reader, const pid_t *pids, size_t nr, int patience_ms,
		     struct proc_text_io *io, int *status);

/* Accepts NULL. */
void io_reader__delete(struct io_reader *reader);

#endif /* DENET_STAT_IO_READER_H */
