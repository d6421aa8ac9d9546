/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SHELL_QUOTE_H
#define DENET_SHELL_QUOTE_H

#include <stddef.h>

/*
 * A path as a word of a shell command that names the same file, without any character that
 * controls a terminal. Bytes take four at most, besides eight in all. Returns buf.
 */
char *shell_quote__path(const char *path, char *buf, size_t size);

#endif /* DENET_SHELL_QUOTE_H */
