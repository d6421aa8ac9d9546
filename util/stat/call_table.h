/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_CALL_TABLE_H
#define DENET_STAT_CALL_TABLE_H

#include <stdio.h>

#include "stat/stat_data.h"

/*
 * Prints the system calls: all of them, by category, by thread, and those that have not returned;
 * of each at most top rows, the greatest times first.
 */
void call_table__print(const struct stat_data *data, unsigned int top, FILE *out);

#endif /* DENET_STAT_CALL_TABLE_H */
