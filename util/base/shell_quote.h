/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SHELL_QUOTE_H
#define DENET_SHELL_QUOTE_H

#include <stddef.h>

/*
 * Quotes a path as a word of a shell command, free of control characters. Needs at most four bytes
 * for each of its own, and eight in all besides. Returns buf.
 */
char *shell_quote__path(const char *path, char *buf, size_t size);

#endif /* DENET_SHELL_QUOTE_H */
