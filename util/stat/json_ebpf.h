/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_JSON_EBPF_H
#define DENET_STAT_JSON_EBPF_H

#include <stdio.h>

#include "stat/stat_data.h"

/*
 * The object "ebpf" of denet 0.6: its readers have no defaults for thread_stats, bottlenecks and
 * stack_traces, so these are there even if they are empty. 0 or -ENOMEM.
 */
int json_ebpf__put(const struct stat_data *data, FILE *out);

#endif /* DENET_STAT_JSON_EBPF_H */
