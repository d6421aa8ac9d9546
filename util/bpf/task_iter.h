/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TASK_ITER_H
#define DENET_BPF_TASK_ITER_H

#include <stddef.h>

struct bpf_link;
struct bpf_program;

/* Receives the records of an iterator: whole ones, back to back. Returns 0 or an errno. */
typedef int (*task_iter_fn)(void *ctx, const void *data, size_t size);

/*
 * Runs a BPF iterator to its end, and passes its output to fn (NULL: drops it). 0, fn's first
 * error, or a negative errno.
 */
int task_iter__run(struct bpf_program *program, task_iter_fn fn, void *ctx);

/* The same for one that is run again and again: its link is kept. */
int task_iter__pass(const struct bpf_link *link, task_iter_fn fn, void *ctx);

#endif /* DENET_BPF_TASK_ITER_H */
