/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_SHOWN_TIME_H
#define DENET_REPORT_SHOWN_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN_TIME_MAX 32
/* Columns on the screen that any time has room in. */
#define SHOWN_TIME_WIDTH 12
#define SHOWN_TIME_EXACT_WIDTH 25

/* "1.234 ms", or exactly "1234567 ns". Returns buf, which has room for SHOWN_TIME_MAX bytes. */
char *shown_time__format(bool exact, uint64_t ns, char buf[SHOWN_TIME_MAX]);

/*
 * The longest block of some, by the longest one whose own length is known and the largest mean of
 * those known as a sum only (0: there are none): "1.234 ms", ">=1.234 ms" if one of a sum may be
 * longer, or "-". Returns buf, as above.
 */
char *shown_time__format_longest(bool exact, uint64_t longest, uint64_t mean,
				 char buf[SHOWN_TIME_MAX]);

#endif /* DENET_REPORT_SHOWN_TIME_H */
