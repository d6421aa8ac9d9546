/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_LOCK_TABLE_H
#define DENET_REPORT_LOCK_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/locks.h"

/* Prints the locks with the most time waited for them, which are sorted; exact: in ns. */
void lock_table__print(const struct locks *locks, bool colours, bool exact, FILE *out);

#endif /* DENET_REPORT_LOCK_TABLE_H */
