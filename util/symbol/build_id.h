/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_BUILD_ID_H
#define DENET_SYMBOL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/root_open.h"

#define BUILD_ID_MAX 20

/*
 * The GNU build-id of an ELF file, read with elfutils. Only a regular file is opened,
 * below the root of process pid (0: our own root) and never outside of it. id receives up
 * to BUILD_ID_MAX bytes. Returns their number, -ENOENT if the file has none or is gone,
 * -ESRCH if the process is gone, -EINVAL if it is no regular file, -EOVERFLOW if the id is
 * longer than BUILD_ID_MAX, another negative errno otherwise. path is as in a mapping of
 * the process. May block on a dead file system: call it where that does no harm.
 */
int build_id__of_file(pid_t pid, const char *path, unsigned char *id);

/* The same of a file that is open for reading, whose position may change. */
int build_id__of_fd(int fd, unsigned char *id);

/*
 * The build-id of the vDSO of this process, which those of the same word size share. Same
 * results.
 */
int build_id__of_vdso(unsigned char *id);

/* The build-id of the running kernel, from /sys/kernel/notes. Same results. */
int build_id__of_kernel(unsigned char *id);

/* The build-id of a loaded module, from /sys/module/NAME/notes. Same results. */
int build_id__of_module(const char *name, unsigned char *id);

/* The build-id in a buffer of ELF notes; the pure part of the above. */
int build_id__of_notes(const void *notes, size_t size, unsigned char *id);

/* A file of a process whose build-id is wanted; id and len are the answer. */
struct build_id_query {
	pid_t pid;
	const char *path;
	struct file_id file; /* as in the mapping */
	/*
	 * A time at which the process lived, CLOCK_MONOTONIC in ns; 0: not known. The process
	 * that has its PID now is another one if it was born later: -ESRCH.
	 */
	uint64_t alive;
	/* That process has ended: pid, or our own root if it is 0, only stands in for it. */
	bool elsewhere;
	bool same_view; /* see root_open__elsewhere() */
	unsigned char id[BUILD_ID_MAX];
	/*
	 * Bytes of id, or a negative errno; -ETIMEDOUT: no answer in time, -ECHILD: crashed;
	 * -ECANCELED: not asked, since the time was over, -EAGAIN: since no process could be made.
	 */
	int len;
};

/*
 * Answers all queries in a child, deadline_ms in all; a file that does not answer costs
 * its own query a part of that time and no other one. 0 or a negative errno.
 */
int build_id__query(struct build_id_query *queries, size_t nr, int deadline_ms);

#endif /* DENET_SYMBOL_BUILD_ID_H */
