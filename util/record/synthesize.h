/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SYNTHESIZE_H
#define DENET_RECORD_SYNTHESIZE_H

#include <stdbool.h>
#include <sys/types.h>

struct capture;
struct sink;

struct synthesize_options {
	struct sink *sink; /* is told, and writes it */
	bool all;          /* every task, not only targets */
	bool wakers;       /* names for those that are no tasks of /proc */
	bool data_maps;    /* also of files that are mapped to be read */
	bool cgroups;      /* cgroups as well */
	pid_t unmapped;    /* a process whose maps stay out; 0: none */
	int deadline_ms;   /* for what other processes can delay */
};

/*
 * Tells what lived when the capture started: the kernel and its modules, and the name,
 * the parent and the executable maps of tasks. What cannot be had is said and left out.
 * 0, or a negative errno of the writer.
 */
int synthesize__write(const struct synthesize_options *options, struct capture *capture);

#endif /* DENET_RECORD_SYNTHESIZE_H */
