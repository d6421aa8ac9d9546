/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_CALL_TABLE_H
#define DENET_STAT_CALL_TABLE_H

#include <stdio.h>

#include "stat/stat_data.h"
#include "stat/stat_rows.h"

/*
 * Prints the system calls: all of them, by category, by thread, and those that have not returned;
 * of each at most form->top rows, the greatest times first. 0 or -ENOMEM.
 */
int call_table__print(const struct stat_data *data, const struct stat_form *form, FILE *out);

#endif /* DENET_STAT_CALL_TABLE_H */
