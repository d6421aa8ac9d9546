/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_BLOCKED_ITER_H
#define DENET_BPF_BLOCKED_ITER_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/task_iter.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

/*
 * Iterates over the threads that are still blocked. Programs, map and variable belong to the BPF
 * object, which outlives this.
 */
struct blocked_iter {
	struct bpf_program *report;    /* the iterator of their blocks */
	struct bpf_program *report_threads; /* and of the time that all threads waited for a CPU */
	struct bpf_program *read_user; /* reads their memory, and may sleep */
	struct bpf_link *user_link;    /* of the latter, once it has been read; NULL: not yet */
	const struct bpf_map *skip_pids;
	const uint32_t *walking_pid; /* process whose memory is being read */
};

/* Passes their blocks to fn, as wire_block records. 0 or a negative errno. */
int blocked_iter__report(const struct blocked_iter *blocked_iter, task_iter_fn fn, void *ctx);

/*
 * Passes each thread's waits for a CPU to fn, as wire_thread records: after the blocks, parts of
 * which they include. 0 or a negative errno.
 */
int blocked_iter__report_threads(const struct blocked_iter *blocked_iter, task_iter_fn fn,
				 void *ctx);

/*
 * Returns a descriptor from which their user frames are read, as wire_user records. Reading sleeps
 * while a process holds its mmap_lock: read it in a child that can be killed. -EOPNOTSUPP if the
 * kernel has no such iterator.
 */
int blocked_iter__open_user_frames(struct blocked_iter *blocked_iter);

/* The process whose memory is being read, 0: none. */
pid_t blocked_iter__walking(const struct blocked_iter *blocked_iter);

/* Skips a process from now on. 0 or a negative errno. */
int blocked_iter__skip(const struct blocked_iter *blocked_iter, pid_t pid);

/* Frees what the iterator owns, not the struct. */
void blocked_iter__free(struct blocked_iter *blocked_iter);

#endif /* DENET_BPF_BLOCKED_ITER_H */
