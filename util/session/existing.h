/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_EXISTING_H
#define DENET_SESSION_EXISTING_H

#include <stdbool.h>
#include <sys/types.h>

struct capture;
struct capture_task;
struct task_event;

struct existing_options {
	bool all;	 /* every task, not only targets */
	bool data_maps;	 /* also files that are mapped to be read */
	pid_t unmapped;	 /* a process whose maps are left out; 0: none */
	int deadline_ms; /* limit of the delay by other processes */
	/* Takes the events, of time 0. 0 or a negative errno, which ends the walk. */
	int (*event)(void *ctx, const struct task_event *event);
	/* Receives each task between its birth and its name; may be NULL. */
	int (*task)(void *ctx, const struct capture_task *task);
	void *ctx;
};

/*
 * Passes the mappings of the kernel and its modules to the callback, as of the capture's start.
 * Unreadable ones are logged and left out. 0, or a negative errno of the callback.
 */
int existing__tell_kernel(const struct existing_options *options, struct capture *capture);

/* The same for tasks: name, parent and executable maps. */
int existing__tell_tasks(const struct existing_options *options, struct capture *capture);

#endif /* DENET_SESSION_EXISTING_H */
