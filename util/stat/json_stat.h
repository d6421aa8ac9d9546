/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_JSON_STAT_H
#define DENET_STAT_JSON_STAT_H

#include <stdio.h>

#include "stat/proc_metrics.h"
#include "stat/stat_data.h"

/* The object "stat": all that denet has no keys for. */
void json_stat__put(const struct proc_metrics_sample *sample, const struct stat_data *data,
		    FILE *out);

#endif /* DENET_STAT_JSON_STAT_H */
