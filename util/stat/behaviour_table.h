/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_BEHAVIOUR_TABLE_H
#define DENET_STAT_BEHAVIOUR_TABLE_H

#include <stdio.h>

#include "stat/stat_data.h"

/*
 * Prints what holds up all threads and each command, those with the greatest active time first and
 * at most top of them, and then the bottlenecks. Errors are those of out.
 */
void behaviour_table__print(const struct stat_data *data, unsigned int top, FILE *out);

#endif /* DENET_STAT_BEHAVIOUR_TABLE_H */
