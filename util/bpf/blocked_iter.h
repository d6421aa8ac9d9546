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
struct sleepers {
	struct bpf_program *report;    /* the iterator of their blocks */
	struct bpf_program *read_user; /* the one that reads their memory, and may sleep */
	struct bpf_link *user_link;    /* of the latter, once it is read; NULL: not yet */
	const struct bpf_map *skip_pids;
	const uint32_t *walking_pid; /* whose memory is read right now */
};

/* Hands each of them to fn, as wire_block records. 0 or a negative errno. */
int sleepers__report(const struct sleepers *sleepers, iterator_fn fn, void *ctx);

/*
 * A descriptor from which their user frames are read, as wire_user records. Reading sleeps while
 * a process holds its mmap_lock: read it in a child that can be killed. -EOPNOTSUPP where the
 * kernel has no such iterator.
 */
int sleepers__open_user_frames(struct sleepers *sleepers);

/* The process whose memory that reading looks at right now, 0: none. */
pid_t sleepers__walking(const struct sleepers *sleepers);

/* That process is left out from now on. 0 or a negative errno. */
int sleepers__skip(const struct sleepers *sleepers, pid_t pid);

/* Frees what the sleepers own, not the sleepers. */
void sleepers__free(struct sleepers *sleepers);

#endif /* DENET_BPF_BLOCKED_ITER_H */
