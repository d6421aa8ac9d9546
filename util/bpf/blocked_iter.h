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
 * The threads that are still blocked, as the programs find them. Programs, map and variable are
 * the programs', which outlive this.
 */
struct blocked_iter {
	struct bpf_program *report;    /* the iterator of their blocks */
	struct bpf_program *report_threads; /* and of how long all threads waited for a CPU */
	struct bpf_program *read_user; /* the one that reads their memory, and may sleep */
	struct bpf_link *user_link;    /* of the latter, once it is read; NULL: not yet */
	const struct bpf_map *skip_pids;
	const uint32_t *walking_pid; /* whose memory is read right now */
};

/* Hands each of them to fn, as wire_block records. 0 or a negative errno. */
int blocked_iter__report(const struct blocked_iter *blocked_iter, task_iter_fn fn, void *ctx);

/*
 * Hands fn what each thread waited for a CPU, as wire_thread records: after the blocks, whose parts
 * it contains. 0 or a negative errno.
 */
int blocked_iter__report_threads(const struct blocked_iter *blocked_iter, task_iter_fn fn,
				 void *ctx);

/*
 * A descriptor from which their user frames are read, as wire_user records. Reading sleeps while
 * a process holds its mmap_lock: read it in a child that can be killed. -EOPNOTSUPP where the
 * kernel has no such iterator.
 */
int blocked_iter__open_user_frames(struct blocked_iter *blocked_iter);

/* The process whose memory that reading looks at right now, 0: none. */
pid_t blocked_iter__walking(const struct blocked_iter *blocked_iter);

/* That process is left out from now on. 0 or a negative errno. */
int blocked_iter__skip(const struct blocked_iter *blocked_iter, pid_t pid);

/* Frees what the sleepers own, not the sleepers. */
void blocked_iter__free(struct blocked_iter *blocked_iter);

#endif /* DENET_BPF_BLOCKED_ITER_H */
