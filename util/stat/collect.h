/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_COLLECT_H
#define DENET_STAT_COLLECT_H

#include "stat/stat_data.h"

struct stat_programs;

/*
 * Reads the figures that the programs have kept so far into data, which is empty before, and which
 * the caller frees. Times and parts are left to the caller. 0 or a negative errno.
 */
int stat_collect(struct stat_programs *programs, struct stat_data *data);

#endif /* DENET_STAT_COLLECT_H */
