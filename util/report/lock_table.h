/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_LOCK_TABLE_H
#define DENET_REPORT_LOCK_TABLE_H

#include <stdio.h>

#include "report/locks.h"
#include "base/text_table.h"

/*
 * Prints the locks with the most time waited for them, at most so many. They are sorted. 0 or
 * -ENOMEM.
 */
int lock_table__print(const struct locks *locks, size_t most, const struct table_form *form,
		      FILE *out);

#endif /* DENET_REPORT_LOCK_TABLE_H */
