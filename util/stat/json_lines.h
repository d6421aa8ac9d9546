/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_JSON_LINES_H
#define DENET_STAT_JSON_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "stat/proc_metrics.h"
#include "stat/stat_data.h"

/*
 * denet-stat --json: one JSON object a line, as denet 0.6 writes and reads them, and our figures
 * under the key "stat", which its readers pass over. Documentation/denet-stat.schema.json describes
 * them. The lines are in this order: env (optional), metadata, then tree or sample at each time.
 * All functions return 0, -ENOMEM or -EIO.
 */

/* The machine, and the cgroups of the process pid (0: our own). Read now. */
int json_lines__env(pid_t pid, uint64_t now_ms, FILE *out);

/* What is measured. */
struct json_target {
	pid_t pid;               /* 0: there is no single process */
	const char *const *argv; /* ends with NULL; NULL: read from /proc */
	uint64_t start_ms;       /* since 1970 */
};

int json_lines__metadata(const struct json_target *target, FILE *out);

/* The whole tree; data has the figures since the start. */
int json_lines__tree(const struct proc_metrics_sample *sample, const struct stat_data *data,
		     FILE *out);

/* The first process alone (--exclude-children). Nothing is written once it has ended. */
int json_lines__sample(const struct proc_metrics_sample *sample, const struct stat_data *data,
		       FILE *out);

#endif /* DENET_STAT_JSON_LINES_H */
