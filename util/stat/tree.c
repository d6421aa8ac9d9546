/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/tree.h"

#include <errno.h>

/* All processes but kernel threads descend from it. */
#define INIT_PID 1

/* A target may have ended meanwhile. */
static int follow(struct tree *tree, const pid_t *pids, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (pids[i] != tree->first)
			err = proc_metrics__follow(tree->metrics, pids[i]);
		if (err == -ESRCH)
			err = 0;
	}
	return err;
}

int tree__init(struct tree *tree, const struct capture_targets *targets, bool alone)
{
	const pid_t all = INIT_PID;
	int err;

	*tree = (struct tree){ 0 };
	if (targets->nr_pids)
		tree->first = targets->pids[0];
	else if (targets->nr_tids)
		tree->first = targets->tids[0];
	tree->metrics = proc_metrics__new(tree->first, alone);
	if (!tree->metrics)
		return -ENOMEM;
	if (!tree->first)
		return follow(tree, &all, 1);
	err = follow(tree, targets->pids, targets->nr_pids);
	return err ? err : follow(tree, targets->tids, targets->nr_tids);
}

int tree__sample(struct tree *tree)
{
	const struct proc_metrics_sample *sample = &tree->sample;
	int err = proc_metrics__sample(tree->metrics, &tree->sample);

	tree->pids.len = 0;
	if (!err && sample->has_parent)
		err = buffer__append(&tree->pids, &sample->parent.pid, sizeof(pid_t));
	for (size_t i = 0; i < sample->nr_children && !err; i++)
		err = buffer__append(&tree->pids, &sample->children[i].pid, sizeof(pid_t));
	return err;
}

void tree__free(struct tree *tree)
{
	proc_metrics__delete(tree->metrics);
	buffer__free(&tree->pids);
}
