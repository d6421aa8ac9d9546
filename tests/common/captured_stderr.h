/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TEST_CAPTURED_STDERR_H
#define DENET_TEST_CAPTURED_STDERR_H

#include <stddef.h>

/* Standard error that goes to memory for a while. */

/* From now on it is kept; returns what captured_stderr__end() needs. */
int captured_stderr__begin(void);

/* Standard error as it was; text gets what was written meanwhile, cut to size, with its NUL. */
void captured_stderr__end(int saved, char *text, size_t size);

#endif /* DENET_TEST_CAPTURED_STDERR_H */
