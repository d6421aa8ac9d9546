/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_TREE_H
#define DENET_STAT_TREE_H

#include "base/buffer.h"
#include "capture/options.h"
#include "stat/proc_metrics.h"

/* The processes of the targets, as /proc shows them. */
struct tree {
	struct proc_metrics *metrics;
	struct proc_metrics_sample sample; /* the latest one */
	pid_t first;			   /* COMMAND, or the first target; 0: there is none */
	struct buffer pids;		   /* pid_t of all processes at the latest sample */
};

/*
 * Begins to follow the targets and, unless alone, their descendants. 0 or -ENOMEM; tree__free()
 * must follow.
 */
int tree__init(struct tree *tree, const struct capture_targets *targets, bool alone);

/* Reads the state of now into tree->sample and tree->pids. 0 or -ENOMEM. */
int tree__sample(struct tree *tree);

void tree__free(struct tree *tree);

#endif /* DENET_STAT_TREE_H */
