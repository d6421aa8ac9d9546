/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_OBJECT_TABLE_H
#define DENET_STAT_OBJECT_TABLE_H

#include <stdio.h>

#include "stat/stat_data.h"
#include "stat/stat_rows.h"

/*
 * Prints the parts of the table on futexes, block devices and sockets that were asked for; of each
 * at most form->top rows. 0 or -ENOMEM.
 */
int object_table__print(const struct stat_data *data, const struct stat_form *form, FILE *out);

#endif /* DENET_STAT_OBJECT_TABLE_H */
